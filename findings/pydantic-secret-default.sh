#!/usr/bin/env bash
# A client that fills in the defaults of a schema, as Ajv offers, sends ten asterisks in place of a secret of pydantic's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pydantic==2.14.4 2>/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ajv@8.20.0 ajv-formats@3.0.1 >/dev/null 2>&1
cat >model.py <<'PYTHON'
import json
import sys

from pydantic import VERSION, BaseModel, SecretStr


class Login(BaseModel):
    user: str
    token: SecretStr = SecretStr("the server's own")


if len(sys.argv) == 1:
    print(json.dumps(Login.model_json_schema()))
    sys.exit()
print("pydantic", VERSION, "lists", Login.model_json_schema()["properties"]["token"])
left_out, filled_in = Login.model_validate_json('{"user": "ann"}'), Login.model_validate_json(sys.argv[1])
tokens = [login.token.get_secret_value() for login in (left_out, filled_in)]
print("without defaults the token is", repr(tokens[0]), "and with Ajv's", repr(tokens[1]))
sys.exit(tokens != ["the server's own", "**********"])
PYTHON
cat >fill.cjs <<'JS'
const Ajv = require("ajv/dist/2020");
const ajv = new Ajv({ useDefaults: true });
require("ajv-formats")(ajv);
const args = { user: "ann" };
if (!ajv.validate(JSON.parse(process.argv[2]), args)) throw new Error(ajv.errorsText());
console.log(JSON.stringify(args));
JS
env/bin/python model.py "$(node fill.cjs "$(env/bin/python model.py)")"
