-- The request comes from the command line, and the figures go out as one line of JSON.
-- Arguments: method, body (empty for none), then headers as "name: value". A value "{number}" is another each time.

function init(args)
  wrk.method = args[1]
  if args[2] ~= "" then wrk.body = args[2] end
  for index = 3, #args do
    local name, value = args[index]:match("^(.-): (.*)$")
    wrk.headers[name] = value
    if value == "{number}" then numbered = name end
  end
  if numbered then
    local start, number = string.format("%d-%d", os.time(), math.floor(os.clock() * 1e6)), 0
    request = function()
      number = number + 1
      wrk.headers[numbered] = start .. "-" .. number
      return wrk.format()
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "refused": %d, "broken": %d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
