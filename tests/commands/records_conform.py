"""records_conform.py SCHEMA FILE...: does every line of the files conform to the schema? One line for each that does not."""
import gzip
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
n = wrong = 0
for path in sys.argv[2:]:
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        for i, line in enumerate(f, 1):
            n += 1
            for e in validator.iter_errors(json.loads(line)):
                wrong += 1
                best = jsonschema.exceptions.best_match([e])
                print(f"{path}:{i}: {best.json_path}: {best.message[:300]}")
print(f"{n} records, {wrong} errors")
sys.exit(wrong > 0 or n == 0)
