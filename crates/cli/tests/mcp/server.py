"""A scripted MCP server on stdio: answers as a file says, and writes down every line it got.

The file has, by method, what to answer: {"result": …}, {"error": …}, {"raw": ["line", …]} (written as they are), or {"silent": true}; and
before the answer {"first": ["line", …]}. A method may have a list of answers, one for each time. `$ID` in a raw line is the id of the request.
"""

import json
import os
import sys


def main():
    script, received = json.load(open(sys.argv[1])), open(sys.argv[2], "ab", buffering=0)
    if script.get("environment"):
        received.write(json.dumps({"environment": dict(os.environ)}).encode() + b"\n")
    out = sys.stdout.buffer
    times = {}
    for line in sys.stdin.buffer:
        received.write(line)
        try:
            message = json.loads(line)
        except ValueError:
            continue
        method = message.get("method")
        if "id" not in message or method is None:
            continue
        answers = script["answers"].get(method, {"error": {"code": -32601, "message": "no such method"}})
        if isinstance(answers, list):
            at = times.get(method, 0)
            times[method] = at + 1
            answers = answers[min(at, len(answers) - 1)]
        identity = json.dumps(message["id"])
        lines = [text.replace("$ID", identity) for text in answers.get("first", [])]
        if "raw" in answers:
            lines += [text.replace("$ID", identity) for text in answers["raw"]]
        elif not answers.get("silent"):
            body = {key: answers[key] for key in ("result", "error") if key in answers}
            lines.append(json.dumps({**body, "jsonrpc": "2.0", "id": message["id"]}, ensure_ascii=False))
        for text in lines:
            out.write(text.encode("utf-8", "surrogatepass") + b"\n")
        out.flush()
    sys.stderr.write("the scripted server ends\n")
    sys.exit(script.get("exit", 0))


main()
