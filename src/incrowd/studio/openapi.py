"""The table of what may be asked, as OpenAPI has it. Nothing is said here that an endpoint does not say of itself."""

from __future__ import annotations

import re
from typing import Any

from incrowd.common.version import __version__
from incrowd.studio.asking import Endpoint

_REFUSALS = {
    400: "malformed",
    401: "this browser has not opened the studio's link",
    403: "from another page, or a path that may not be touched",
    404: "not there",
    409: "the recipe is another one meanwhile, or the table is not open",
    410: "it is gone",
    413: "too large",
    415: "not JSON",
    421: "a wrong name of the host",
    422: "the library refuses it",
    507: "the disk is full; nothing was changed",
}
_PARAMETER = re.compile(r"{(\w+)(?::(\w+))?}")
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "column": {"type": ["string", "null"]},
                "values": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
            },
        }
    },
}
_NOT_JSON = {"HTML": "text/html", "CSV": "text/csv", "TOML": "application/toml", "zip": "application/zip"}


def openapi(endpoints: list[Endpoint]) -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(_PARAMETER.sub(r"{\1}", one.path), {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "incrowd studio",
            "version": __version__,
            "description": "The API of a studio that runs on this machine. GET /?token=… of its link is answered with "
            "a cookie and with the address of the page, /page/KEY/: both are needed for everything, so that paths are "
            "asked for under /page/KEY. Requests that change anything carry the studio's own Origin.",
        },
        "servers": [{"url": "/page/{key}", "variables": {"key": {"default": "KEY", "description": "of the page"}}}],
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {"cookie": {"type": "apiKey", "in": "cookie", "name": "incrowd_studio_PORT"}},
        },
        "security": [{"cookie": []}],
    }


def _operation(one: Endpoint) -> dict[str, Any]:
    refuses = sorted({400, 401, 403, 421, *one.refuses, *([415] if one.body is not None else [])})
    kind = _NOT_JSON.get(one.answer, one.answer if "/" in one.answer else "application/json")
    told: dict[str, Any] = {
        "operationId": f"{one.method.lower()} {one.path}",
        "summary": one.about,
        "responses": {
            str(one.status): {"description": one.answer, "content": {kind: {}}},
            **{str(status): _refusal(status) for status in refuses},
        },
    }
    parameters = [_in_path(name, of) for name, of in _PARAMETER.findall(one.path)]
    parameters += [
        {
            "name": name,
            "in": "query",
            "required": field.needed,
            "description": field.about,
            "schema": {"type": field.kind},
        }
        for name, field in one.query.items()
    ]
    if parameters:
        told["parameters"] = parameters
    if one.body is not None:
        schema = {
            "type": "object",
            "properties": {name: field.schema() for name, field in one.body.items()},
            "required": [name for name, field in one.body.items() if field.needed],
            "additionalProperties": False,
        }
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    elif one.raw_body is not None:
        told["requestBody"] = {"required": True, "content": {one.raw_body: {}}}
    return told


def _in_path(name: str, of: str) -> dict[str, Any]:
    kind = "integer" if of == "int" else "string"
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": _REFUSALS[status], "content": {"application/json": {"schema": schema}}}
