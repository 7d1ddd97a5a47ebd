#!/usr/bin/env python3
"""The two services of the simple agent, as small as they can be: `rag` answers questions, `haiku` writes haiku.

Usage: services.py rag|haiku [PORT]              a free port if it is 0, or not given; the address is printed on the first line
       services.py rag|haiku [PORT] --scripted   takes a script, for tests

`PUT /script` brings a JSON list of answers, one for each request to come: {"status", "body", "text", "close"}. What an answer does not
say is usual: status 200, and the answer of the demo. With "close" the connection is closed without an answer. The reply tells the
requests since the last script, {"path", "body"} each, and how many answers of that are left.
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


def handler(service, is_scripted):
    """Serves one of the services, by a script if that is wanted."""
    script, seen = [], []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer goes out in one piece

        def do_GET(self):
            self.serve(None, lambda: {"status": "ok"} if self.path == "/health" else None)

        def do_POST(self):
            body, function = self.body(), SERVICES[service].get(self.path)
            self.serve(body, lambda: function(body) if function else None)

        def do_PUT(self):
            if not is_scripted or self.path != "/script":
                return self.reply({"status": 404})
            told = {"seen": list(seen), "left": len(script)}
            script[:], seen[:] = self.body(), []
            self.reply({"body": told})

        def body(self):
            return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))

        def serve(self, body, usual):
            seen.append({"path": self.path, "body": body})
            answer = script.pop(0) if script else {}
            if not answer.keys() & {"status", "body", "text", "close"}:
                usual = usual()
                answer = {"status": 404} if usual is None else {"body": usual}
            self.reply(answer)

        def reply(self, answer):
            if answer.get("close"):
                self.close_connection = True
                return
            is_text = "text" in answer
            text = answer["text"] if is_text else json.dumps(answer.get("body"), ensure_ascii=False)
            self.send_response(answer.get("status", 200))
            self.send_header("content-type", "text/plain; charset=utf-8" if is_text else "application/json")
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Handler


def main(service, *options):
    is_scripted, ports = "--scripted" in options, [option for option in options if option.isdigit()]
    address = ("127.0.0.1", int(ports[0]) if ports else 0)
    server = ThreadingHTTPServer(address, handler(service, is_scripted))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SERVICES:
        sys.exit(__doc__)
    main(*sys.argv[1:])
