"""Wrong calls of the tools that programs have."""

from typing import Any

from tests.repairs.wrong_calls import WrongCall

REPLACE = {"op": "replace", "old_text": "a", "new_text": "b"}
EDIT: dict[str, Any] = {"path": "src/a.py", "edits": [REPLACE]}
SLOT = {"begins": "08:00:00", "ends": "17:00:00", "celsius": 21}
HEAT: dict[str, Any] = {"schedule": {"mon": [SLOT]}}
WHERE: dict[str, Any] = {"column": "age", "operator": "gt", "value": 3}
ROWS: dict[str, Any] = {"table": "t", "where": WHERE}
COPY: dict[str, Any] = {"source": {"local_path": "/a"}, "target": {"host": "h", "remote_path": "/b"}}
JOB: dict[str, Any] = {"jobName": "nightly"}
REC: dict[str, Any] = {"id": 7}
TREE: dict[str, Any] = {"root": {"name": "a", "folders": [{"name": "b", "files": [{"name": "c", "size_bytes": 1}]}]}}


def _call(name: str, sent: Any, meant: dict[str, Any], *free: str) -> WrongCall:
    tool, _, title = name.partition(": ")
    return WrongCall(f"{tool}: {title}", tool, sent, meant, free)


WORK_CALLS = [
    _call("edit_file: old and new", {"path": "src/a.py", "edits": [{"op": "replace", "old": "a", "new": "b"}]}, EDIT),
    _call(
        "edit_file: find and replace",
        {"path": "src/a.py", "edits": [{"op": "replace", "old_string": "a", "new_string": "b"}]},
        EDIT,
    ),
    _call(
        "edit_file: tag under action",
        {"path": "src/a.py", "edits": [{"action": "replace", "old_text": "a", "new_text": "b"}]},
        EDIT,
    ),
    _call("edit_file: no tag", {"path": "src/a.py", "edits": [{"old_text": "a", "new_text": "b"}]}, EDIT),
    _call(
        "edit_file: tag in another form",
        {"path": "src/a.py", "edits": [{"op": "replaced", "old_text": "a", "new_text": "b"}]},
        EDIT,
    ),
    _call("edit_file: one edit", {"path": "src/a.py", "edits": REPLACE}, EDIT),
    _call("edit_file: edit at the top", {"path": "src/a.py", **REPLACE}, EDIT),
    _call(
        "edit_file: edits in text",
        {"path": "src/a.py", "edits": "[{'op': 'replace', 'old_text': 'a', 'new_text': 'b'}]"},
        EDIT,
    ),
    _call(
        "edit_file: each edit in text",
        {"path": "src/a.py", "edits": ['{"op": "replace", "old_text": "a", "new_text": "b"}']},
        EDIT,
    ),
    _call(
        "edit_file: line zero",
        {"path": "src/a.py", "edits": [{"op": "insert", "line": 0, "text": "x"}]},
        {"path": "src/a.py", "edits": [{"op": "insert", "line": 1, "text": "x"}]},
    ),
    _call(
        "edit_file: line number",
        {"path": "src/a.py", "edits": [{"op": "insert", "line_number": 4, "text": "x"}]},
        {"path": "src/a.py", "edits": [{"op": "insert", "line": 4, "text": "x"}]},
    ),
    _call(
        "edit_file: lines of a removal",
        {"path": "src/a.py", "edits": [{"op": "delete", "start_line": 1, "end_line": 2}]},
        {"path": "src/a.py", "edits": [{"op": "delete", "first_line": 1, "last_line": 2}]},
    ),
    _call("edit_file: path elsewhere", {**EDIT, "path": "/home/a.py"}, EDIT),
    _call("edit_file: file_path", {"file_path": "src/a.py", "edits": [REPLACE]}, EDIT),
    _call("edit_file: encoding", {**EDIT, "encoding": "UTF8"}, EDIT),
    _call("edit_file: dryRun in text", {**EDIT, "dryRun": "True"}, {**EDIT, "dry_run": True}),
    _call(
        "edit_file: line breaks in text",
        '{"path": "src/a.py", "edits": [{"op": "replace", "old_text": "a\nb", "new_text": "b"}]}',
        {"path": "src/a.py", "edits": [{**REPLACE, "old_text": "a\nb"}]},
    ),
    _call("edit_file: cut off in a list", '{"path": "src/a.py", "edits": [{"op": "replace", "old_text": "a"', EDIT),
    _call(
        "save_tree: misspelt two deep",
        {"root": {"name": "a", "folders": [{"name": "b", "files": [{"name": "c", "size_byte": 1}]}]}},
        TREE,
    ),
    _call(
        "save_tree: size",
        {"root": {"name": "a", "folders": [{"name": "b", "files": [{"name": "c", "size": 1}]}]}},
        TREE,
    ),
    _call(
        "save_tree: files as names",
        {"root": {"name": "a", "files": ["c"]}},
        {"root": {"name": "a", "files": [{"name": "c"}]}},
    ),
    _call(
        "save_tree: folder as a name",
        {"root": {"name": "a", "folders": ["b"]}},
        {"root": {"name": "a", "folders": [{"name": "b"}]}},
    ),
    _call("save_tree: no root", {"name": "a"}, {"root": {"name": "a"}}),
    _call(
        "save_tree: overwrite as a flag",
        {"root": {"name": "a"}, "overwrite": True},
        {"root": {"name": "a"}},
        "overwrite",
    ),
    _call(
        "save_tree: children for folders",
        {"root": {"name": "a", "Folders": [{"Name": "b"}]}},
        {"root": {"name": "a", "folders": [{"name": "b"}]}},
    ),
    _call(
        "save_tree: size negative",
        {"root": {"name": "a", "files": [{"name": "c", "size_bytes": -1}, {"name": "d", "size_bytes": -5}]}},
        {"root": {"name": "a", "files": [{"name": "c", "size_bytes": 0}, {"name": "d", "size_bytes": 0}]}},
    ),
    _call("set_heating: day in full", {"schedule": {"monday": [SLOT]}}, HEAT, "schedule"),
    _call("set_heating: day in capitals", {"schedule": {"MON": [SLOT]}}, HEAT, "schedule"),
    _call("set_heating: one slot", {"schedule": {"mon": SLOT}}, HEAT),
    _call(
        "set_heating: time of twelve hours", {"schedule": {"mon": [{**SLOT, "begins": "8am"}]}}, HEAT, "schedule.mon"
    ),
    _call(
        "set_heating: start and end",
        {"schedule": {"mon": [{"begin": "08:00:00", "end": "17:00:00", "celsius": 21}]}},
        HEAT,
    ),
    _call("set_heating: degrees as text", {"schedule": {"mon": [{**SLOT, "celsius": "21°C"}]}}, HEAT),
    _call(
        "set_heating: too warm",
        {"schedule": {"mon": [{**SLOT, "celsius": 40}]}},
        {"schedule": {"mon": [{**SLOT, "celsius": 30}]}},
    ),
    _call("set_heating: level as text", {**HEAT, "fan_level": "2"}, {**HEAT, "fan_level": 2}),
    _call("set_heating: level too high", {**HEAT, "fan_level": 9}, {**HEAT, "fan_level": 3}, "fan_level"),
    _call("set_heating: schedule as a list", {"schedule": [{"day": "mon", "slots": [SLOT]}]}, HEAT, "schedule"),
    _call("query_rows: sign for an operator", {**ROWS, "where": {**WHERE, "operator": ">"}}, ROWS, "where.operator"),
    _call("query_rows: operator in capitals", {**ROWS, "where": {**WHERE, "operator": "GT"}}, ROWS),
    _call("query_rows: op", {**ROWS, "where": {"column": "age", "op": "gt", "value": 3}}, ROWS),
    _call(
        "query_rows: deep operator",
        {**ROWS, "where": {"all": [WHERE, {"any": [{**WHERE, "operator": "gtt"}]}]}},
        {**ROWS, "where": {"all": [WHERE, {"any": [WHERE]}]}},
    ),
    _call("query_rows: condition as text", {**ROWS, "where": "age > 3"}, ROWS, "where"),
    _call("query_rows: list of conditions", {**ROWS, "where": [WHERE]}, ROWS, "where"),
    _call("query_rows: order as text", {**ROWS, "order": "age desc"}, {**ROWS, "order": [["age", "desc"]]}, "order"),
    _call("query_rows: order by names", {**ROWS, "order": ["age"]}, {**ROWS, "order": [["age", "asc"]]}, "order"),
    _call("query_rows: direction", {**ROWS, "order": [["age", "descending"]]}, {**ROWS, "order": [["age", "desc"]]}),
    _call("query_rows: limit not a step", {**ROWS, "limit": 25}, {**ROWS, "limit": 20}),
    _call("query_rows: cursor as a number", {**ROWS, "cursor": 5}, {**ROWS, "cursor": "5"}),
    _call("copy_file: path for both", {"source": {"path": "/a"}, "target": COPY["target"]}, COPY),
    _call("copy_file: as text", {"source": "/a", "target": COPY["target"]}, COPY),
    _call("copy_file: remote without a path", {"source": COPY["source"], "target": {"host": "h", "path": "/b"}}, COPY),
    _call(
        "copy_file: port in words",
        {"source": COPY["source"], "target": {**COPY["target"], "port": "ssh"}},
        COPY,
        "target.port",
    ),
    _call("copy_file: checksum in capitals", {**COPY, "checksum": "ABCDEF12"}, {**COPY, "checksum": "abcdef12"}),
    _call("copy_file: retries in words", {**COPY, "retries": "always"}, COPY, "retries"),
    _call("copy_file: src and dst", {"src": COPY["source"], "dest": COPY["target"]}, COPY),
    _call("start_job: snake case", {"job_name": "nightly"}, JOB),
    _call("start_job: name", {"name": "nightly"}, JOB),
    _call("start_job: too short", {"jobName": "n"}, {"jobName": "nxx"}, "job_name"),
    _call("start_job: memory with a unit", {**JOB, "memory_mb": "512MB"}, {**JOB, "memory_mb": 512}),
    _call("start_job: env as a list", {**JOB, "env": ["A=1"]}, {**JOB, "env": {"A": "1"}}, "env"),
    _call("start_job: env of numbers", {**JOB, "env": {"A": 1, "B": 2}}, {**JOB, "env": {"A": "1", "B": "2"}}),
    _call("update_record: id pattern", {"id": "7x"}, {"id": "rec_7x"}),
    _call("update_record: record_id", {"record_id": 7}, REC),
    _call(
        "update_record: patch of an object", {**REC, "patch": {"a": {"b": 1}}}, {**REC, "patch": {"a": "1"}}, "patch.a"
    ),
    _call("update_record: patch as a list", {**REC, "patch": [{"a": 1}]}, {**REC, "patch": {"a": 1}}, "patch"),
    _call("update_record: tags twice", {**REC, "tags": ["a", "b", "a"]}, {**REC, "tags": ["a", "b"]}),
    _call("update_record: tags with commas", {**REC, "tags": "a, b"}, {**REC, "tags": ["a", "b"]}),
    _call("update_record: visibility", {**REC, "visibility": "Public "}, {**REC, "visibility": "public"}),
    _call("update_record: visible to", {**REC, "visible": "team"}, {**REC, "visibility": "team"}),
    _call(
        "update_record: moment",
        {**REC, "expires_at": "2026-12-31"},
        {**REC, "expires_at": "2026-03-14T15:09:26Z"},
        "expires_at",
    ),
    _call("update_record: null as text", {**REC, "expires_at": "null"}, {**REC, "expires_at": None}),
    _call("update_record: position flat", {**REC, "x": 1, "y": 2}, {**REC, "position": {"x": 1, "y": 2}}),
    _call("update_record: position as a list", {**REC, "position": [1, 2]}, {**REC, "position": {"x": 1, "y": 2}}),
    _call(
        "update_record: position in text", {**REC, "position": "{x: 1, y: 2}"}, {**REC, "position": {"x": 1, "y": 2}}
    ),
    _call(
        "update_record: layer of a half",
        {**REC, "position": {"x": 1, "y": 2, "layer": 1.5}},
        {**REC, "position": {"x": 1, "y": 2, "layer": 2}},
    ),
    _call(
        "update_record: trigger misspelt",
        {**REC, "trigger": {"type": "crom", "expression": "* * * * *"}},
        {**REC, "trigger": {"type": "cron", "expression": "* * * * *"}},
    ),
    _call(
        "update_record: trigger key",
        {**REC, "trigger": {"type": "webhook", "secretName": "s"}},
        {**REC, "trigger": {"type": "webhook", "secret_name": "s"}},
    ),
    _call(
        "update_record: trigger of the other",
        {**REC, "trigger": {"type": "cron", "schedule": "* * * * *"}},
        {**REC, "trigger": {"type": "cron", "expression": "* * * * *"}},
    ),
    _call("update_record: confidence in percent", {**REC, "confidence": 85}, {**REC, "confidence": 1}),
    _call("update_record: confidence as text", {**REC, "confidence": "high"}, {**REC, "confidence": 1}, "confidence"),
]
