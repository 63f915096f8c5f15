"""The models that a gateway searches with: the spaces of its embedders.

OpenAI's clients and the tools built on them list models to see whether a server is there.
"""

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems
from gateway.extensions.vector_stores.schemas.vector_store_schemas import ModelAnswer, ModelList
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices


async def list_models(context: RequestContext[VectorStoreServices]) -> Response:
    await context.authenticate()
    models = tuple(ModelAnswer(id=space) for space in context.services.search.spaces)
    return json_response(ModelList(data=models))


async def get_model(context: RequestContext[VectorStoreServices]) -> Response:
    await context.authenticate()
    name = context.request.path_params["model"]
    if name not in context.services.search.spaces:
        raise problems.not_found("model", "This gateway does not search with this model.")
    return json_response(ModelAnswer(id=name))
