#!/usr/bin/env python3
"""The two services of the simple agent, as small as they can be: `rag` answers questions, `haiku` writes haiku.

Usage: services.py rag|haiku [PORT]     port 0 takes a free one; the address is printed on the first line
       services.py rag --script FILE    answers by a script, for tests

A script is a JSON list of answers, one for each request in turn: {"path", "status", "body", "text", "close"}. What it does not say is
usual: status 200, and the answer of the demo. With "close" the connection is closed without an answer. Requests are told on the
standard error output, a line of JSON each.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENTS = [
    ("Отпуск", "Ежегодный отпуск длится 28 дней. Заявление подают за две недели."),
    ("Командировки", "Суточные выплачивают авансом, отчёт сдают за три дня."),
    ("Удалённая работа", "Из дома можно работать два дня в неделю, по согласованию."),
]


def search(body):
    """The documents that share most words with the question."""
    words = set(body["question"].lower().strip("?!. ").split())
    score = lambda document: -len(words & set(" ".join(document).lower().replace(".", "").split()))
    top = sorted(DOCUMENTS, key=score)[: body["top_k"]]
    return {
        "answer": top[0][1],
        "chunk_title_list": [title for title, _ in top],
        "chunk_texts": [text for _, text in top],
    }


def generate_haiku(body):
    """Always the same haiku, on any theme."""
    lines = [f"Тихо шепчет: «{body['theme']}»", "старый пруд под луной.", "Лягушка молчит."]
    vowels = lambda line: sum(letter in "аеёиоуыэюя" for letter in line.lower())
    return {
        "haiku_text": "\n".join(lines),
        "syllables_per_line": [vowels(line) for line in lines],
        "total_words": sum(len(line.split()) for line in lines),
    }


SERVICES = {"rag": {"/search": search}, "haiku": {"/generate_haiku": generate_haiku}}


def handler(service, script):
    """Serves one of the services, by a script if there is one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.answer({"status": "ok"} if self.path == "/health" else None, None)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            function = SERVICES[service].get(self.path)
            self.answer(function and function(body), body)

        def answer(self, usual, body):
            print(json.dumps({"path": self.path, "body": body}, ensure_ascii=False), file=sys.stderr, flush=True)
            scripted = script.pop(0) if script else {}
            if scripted.get("close"):
                self.close_connection = True
                return
            status = scripted.get("status", 404 if usual is None else 200)
            text = scripted.get("text") or json.dumps(scripted.get("body", usual), ensure_ascii=False)
            self.send_response(status)
            self.send_header("content-type", "text/plain" if "text" in scripted else "application/json")
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Handler


def main(service, *options):
    script, port = [], 0
    if options[:1] == ("--script",):
        with open(options[1], encoding="utf-8") as file:
            script = json.load(file)
    elif options:
        port = int(options[0])
    server = ThreadingHTTPServer(("127.0.0.1", port), handler(service, script))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SERVICES:
        sys.exit(__doc__)
    main(*sys.argv[1:])
