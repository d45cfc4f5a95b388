"""The addresses of the workbench: projects, searches, predictions, downloads."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from mercer.studio import bodies
from mercer.studio.answers import answered, as_json
from mercer.studio.guard import Signer
from mercer.studio.projects import FILES, Projects, read_events, read_json, safe_name
from mercer.studio.refusal import refuse
from mercer.studio.searches import Searches
from mercer.studio.worker import Worker

if TYPE_CHECKING:
    from starlette.requests import Request

_READING = 60.0
"""Seconds for reading a file, which may be a gigabyte."""
_PREDICTING = 120.0
"""Seconds for predictions, which the command line makes in a process of its own."""
_LOOK = 0.1
"""Seconds between two looks at the events of a search."""
_MOST_PREDICTED = 500
"""The most predictions that a page shows; the command line makes any number."""
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""The report holds styles and drawings of its own, and nothing that runs."""
SAMPLES = {
    "pets": "pets.csv",
    "demand": "demand.csv",
    "binding": "binding.csv",
    "promoters": "promoters.fasta",
    "postcards": "postcards.txt",
    "molecules": "molecules.smi",
    "rings": "rings.jsonl",
    "sentences": "sentences.trees",
    "pictures": "pictures.svm",
    "similarities": "leaves.npz",
}


def workbench_routes(worker: Worker, searches: Searches, signer: Signer, closing: Callable[[], bool]) -> list[Route]:
    """Routes below /api/projects, and signed addresses below /files."""
    bench = _Workbench(worker, searches, signer, closing)
    job = "/api/projects/{project}/jobs/{job}"
    return [
        Route("/api/projects", bench.projects),
        Route("/api/projects", bench.upload, methods=["PUT"]),
        Route("/api/projects", bench.sample, methods=["POST"]),
        Route("/api/projects/{project}", bench.project),
        Route("/api/projects/{project}", bench.remove, methods=["DELETE"]),
        Route("/api/projects/{project}/describe", bench.describe, methods=["POST"]),
        Route("/api/projects/{project}/jobs", bench.start, methods=["POST"]),
        Route(job, bench.job),
        Route(job + "/events", bench.events),
        Route(job + "/cancel", bench.cancel, methods=["POST"]),
        Route(job + "/resume", bench.resume, methods=["POST"]),
        Route(job + "/predict", bench.predict, methods=["PUT"]),
        Route(job + "/sign", bench.sign, methods=["POST"]),
        Route("/api/gram", bench.gram, methods=["PUT"]),
        Route("/files/{project}/{job}/{what}", bench.file),
    ]


@final
class _Workbench:
    def __init__(self, worker: Worker, searches: Searches, signer: Signer, closing: Callable[[], bool]) -> None:
        self._worker = worker
        self._searches = searches
        self._projects: Projects = searches.projects
        self._signer = signer
        self._closing = closing

    def _job(self, request: Request) -> Path:
        return self._projects.job(request.path_params["project"], request.path_params["job"])

    async def projects(self, request: Request) -> Response:
        told = []
        for project in self._projects.all():
            jobs = [self._searches.told(project["id"], job) for job in project["jobs"][:1]]
            told.append({**project, "latest": jobs[0] if jobs else None})
        return as_json({"projects": told, "samples": list(SAMPLES)})

    async def upload(self, request: Request) -> Response:
        key, target = self._projects.new(request.query_params.get("name", "data")[:1000])
        try:
            with open(target, "xb") as stream:
                async for part in bodies.parts(request, bodies.MOST_UPLOAD):
                    stream.write(part)
        except BaseException:
            self._projects.remove(key)
            raise
        return as_json({"id": key})

    async def sample(self, request: Request) -> Response:
        told = await bodies.question(request)
        name = told.get("sample")
        if not isinstance(name, str) or name not in SAMPLES:
            refuse(f"Samples are {', '.join(SAMPLES)}.", "sample")
        key, target = self._projects.new(SAMPLES[name])
        answer = await self._worker.ask("sample", {"name": name, "path": str(target)}, _READING)
        if "error" in answer:
            self._projects.remove(key)
            return answered(answer)
        return as_json({"id": key})

    async def project(self, request: Request) -> Response:
        key = request.path_params["project"]
        told = self._projects.told(key)
        return as_json({**told, "jobs": [self._searches.told(key, job) for job in told["jobs"]]})

    async def remove(self, request: Request) -> Response:
        key = request.path_params["project"]
        if any(self._searches.is_running(job) for job in self._projects.told(key)["jobs"]):
            refuse("A search of this project is running; cancel it first.")
        self._projects.remove(key)
        return as_json({})

    async def describe(self, request: Request) -> Response:
        path = self._projects.data(request.path_params["project"])
        told = await bodies.question(request)
        return answered(await self._worker.ask("describe", {**told, "path": str(path)}, _READING))

    async def start(self, request: Request) -> Response:
        key = request.path_params["project"]
        path = self._projects.data(key)
        plan = await self._worker.ask("plan", await bodies.question(request), _READING)
        if "error" in plan:
            return answered(plan)
        job = await self._searches.start(key, {**plan["answer"], "path": str(path)})
        return as_json({"id": job})

    async def job(self, request: Request) -> Response:
        return as_json(self._searches.told(request.path_params["project"], self._job(request).name))

    async def cancel(self, request: Request) -> Response:
        await self._searches.cancel(self._job(request).name)
        return await self.job(request)

    async def resume(self, request: Request) -> Response:
        await self._searches.resume(request.path_params["project"], self._job(request).name)
        return await self.job(request)

    async def events(self, request: Request) -> Response:
        """Events from an offset on, as they happen, each with the offset after it; the stream ends with the search."""
        folder, given = self._job(request), request.query_params.get("offset", "0")
        if not given.isascii() or not given.isdigit() or len(given) > 15:
            raise HTTPException(400, "The offset must be a whole number.")

        async def lines() -> AsyncIterator[bytes]:
            offset = int(given)
            while True:
                running = self._searches.is_running(folder.name)
                found, offset = read_events(folder / "events.jsonl", offset)
                if found:
                    yield json.dumps({"events": found, "offset": offset}).encode() + b"\n"
                if not running or self._closing():
                    return
                await asyncio.sleep(_LOOK)

        return StreamingResponse(lines(), media_type="application/x-ndjson", headers={"cache-control": "no-store"})

    async def predict(self, request: Request) -> Response:
        """Predictions for the objects in the body, a file like the one that the model was trained on."""
        folder = self._job(request)
        model = folder / FILES["model"]
        if not model.is_file():
            refuse("This search has no model yet.", "model")
        with tempfile.TemporaryDirectory() as place:
            trained_on = Path(str(read_json(folder / "plan.json").get("path", "data")))
            path = Path(place) / safe_name(request.query_params.get("name") or f"objects{trained_on.suffix}")
            with open(path, "xb") as stream:
                async for part in bodies.parts(request, bodies.MOST_UPLOAD):
                    stream.write(part)
            told = await _command("predict", str(model), str(path), "--json", "--reasons", "3")
            if "error" in told:
                hint = told["error"].get("hint") or ""
                refuse(f"{told['error']['message']}. {hint}".replace(f"{place}{os.sep}", ""), "objects")
            explained = await self._worker.ask(
                "explain", {"model": str(model), "path": str(path), "most": 50}, _READING
            )
        return as_json({
            "predictions": told["predictions"][:_MOST_PREDICTED],
            "objects": told["objects"],
            "unlike": told["unlike_training"],
            "parts": explained.get("answer"),
        })  # fmt: skip

    async def gram(self, request: Request) -> Response:
        """What a file with a Gram matrix looks like; it is not kept."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / safe_name(request.query_params.get("name") or "gram.csv")
            with open(path, "xb") as stream:
                async for part in bodies.parts(request, bodies.MOST_UPLOAD):
                    stream.write(part)
            return answered(await self._worker.ask("gram", {"path": str(path)}, _READING))

    async def sign(self, request: Request) -> Response:
        """A short-lived address for a file, for use in a frame or a download."""
        folder, told = self._job(request), await bodies.question(request)
        what = told.get("what")
        if not isinstance(what, str) or what not in FILES or not (folder / FILES[what]).is_file():
            refuse(f"what must be one of {', '.join(FILES)}, once the search has finished.", "what")
        return as_json(
            {"address": self._signer.signed(f"/files/{request.path_params['project']}/{folder.name}/{what}")}
        )

    async def file(self, request: Request) -> Response:
        query = request.query_params
        if not self._signer.holds(request.url.path, query.get("until", ""), query.get("signature", "")):
            raise HTTPException(403, "This address has expired.")
        what = request.path_params["what"]
        path = self._job(request) / FILES[what]
        headers = {"cache-control": "no-store"}
        if what == "report":
            headers["content-security-policy"] = REPORT_POLICY
            return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)
        return FileResponse(path, media_type="application/octet-stream", headers=headers, filename=path.name)


async def _command(*words: str) -> dict[str, Any]:
    """What a command of Mercer prints as JSON, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "mercer", *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(_PREDICTING):
            out, _ = await process.communicate()
        told: dict[str, Any] = json.loads(out)
    except TimeoutError:
        process.kill()
        await process.wait()
        refuse(
            "Predicting took longer than two minutes and was stopped. Use `mercer predict` for large files.", "objects"
        )
    except ValueError:
        refuse("The prediction ended unexpectedly.", "objects")
    return told
