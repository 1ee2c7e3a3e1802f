SELECT id, args, message FROM calls {where}
