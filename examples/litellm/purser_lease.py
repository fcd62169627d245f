"""Model calls of a LiteLLM proxy within what an agent may spend: `callbacks: purser_lease.lease` in its config.

The most that a call can cost is leased before it, `max_tokens` falls to what is left, and the cost is reported.
Each call counts whole cents; @purser/gateway shares leases among calls, and bounds tools, images and caches.
"""

import json
import math
import os
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from purser import AsyncPurser, SpendDenied, SpendPending

REFUSED = ("tools", "functions", "response_format", "prediction", "web_search_options", "audio", "extra_body")


class PurserLease(CustomLogger):
    agent, adapter = (AsyncPurser(os.environ[f"PURSER_{name}_KEY"]) for name in ("AGENT", "ADAPTER"))

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        messages = json.dumps(data.get("messages"))
        if "completion" not in call_type or '"type"' in messages or any(data.get(name) for name in REFUSED):
            raise ValueError("purser_lease bounds chats of text alone. Use @purser/gateway for others.")
        info: Any = litellm.get_model_info(data["model"])
        # A token is at least one byte, at the model's dearest price: of caches, long inputs, tiers.
        kinds = ("input_cost_per_token", "cache_creation_input_token"), "output_cost_per_"
        price_in, price_out = (max(v for k, v in info.items() if v and k.startswith(kind)) for kind in kinds)
        paid_in, per_token = (len(messages) + 1024) * price_in, price_out * (data.get("n") or 1)
        asked = data.pop("max_completion_tokens", None) or data.get("max_tokens") or info["max_output_tokens"]
        most, least = (math.ceil((paid_in + tokens * per_token) * 100) for tokens in (asked, min(asked, 256)))
        rail = {"payee_id": f"model:{info['litellm_provider']}", "currency": "USD"}
        action = {"type": "model_usage", "merchant": info["litellm_provider"], "amount_minor": most, **rail}
        limits = {"limitable": True, "min_amount_minor": least, "idempotency_key": os.urandom(16).hex()}
        try:
            lease: Any = await self.agent.authorize({"action": action, **limits})
        except (SpendDenied, SpendPending) as error:
            raise litellm.BudgetExceededError(0, 0, "The budget for this call is used up.") from error
        decision_id, amount = lease.decision["decision_id"], lease.amount_minor
        if lease.capability is not None:  # in ENFORCE
            payment = {"token": lease.capability["token"], "amount_minor": amount, **rail}
            await self.adapter.capabilities.consume(payment, idempotency_key=decision_id)
        data["metadata"] = {**(data.get("metadata") or {}), "purser_lease": (decision_id, amount)}
        data["max_tokens"] = min(asked, int((amount / 100 - paid_in) / per_token))
        return {**data, "num_retries": 0, "max_retries": 0, "disable_fallbacks": True}  # one attempt

    async def async_log_success_event(self, kwargs: Any, *_: Any, **__: Any) -> None:
        decision_id, amount = kwargs["litellm_params"]["metadata"]["purser_lease"]
        free = isinstance(kwargs.get("exception"), (litellm.BadRequestError, litellm.AuthenticationError))
        cost = 0 if free else kwargs.get("response_cost") or amount / 100  # no cost known: the whole lease
        spent: Any = {"type": "SPEND_EXECUTED", "amount_minor": math.ceil(cost * 100)}
        outcome = spent if cost else {"type": "SPEND_CANCELLED"}
        await self.adapter.decisions.report_outcome(decision_id, {**outcome, "source": "PAYMENT_RAIL"})

    async_log_failure_event = async_log_success_event


lease = PurserLease()
