"""What subscriptions use."""

from dataclasses import dataclass

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.auth.authenticator import Authenticator
from gateway.caching.change_feed import ChangeLogFeed
from gateway.monitoring.subscription_metrics import SubscriptionMetrics
from gateway.search.response_body import compute_answer
from gateway.search.search_request import SearchRequest
from gateway.search.search_services import SearchServices
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.subscriptions.change_follower import ChangeFollower, Compute
from gateway.subscriptions.subscription_watcher import WatcherServices
from gateway.subscriptions.webhook_delivery import DeliveryServices, WebhookClient
from gateway.subscriptions.webhook_message import PAUSES_S
from gateway.subscriptions.webhook_sender import WebhookSender
from index.invalidation.changes import ChangeLog
from index.subscriptions.subscription_store import SubscriptionStore
from index.subscriptions.webhook_store import WebhookStore
from ingest.web.addresses import AddressPolicy, parse_networks


@dataclass(frozen=True, slots=True)
class SubscriptionServices:
    settings: Settings
    metrics: SubscriptionMetrics
    store: SubscriptionStore
    compute: Compute
    follower: ChangeFollower
    watchers: WatcherServices
    webhooks: WebhookStore
    webhook_policy: AddressPolicy
    deliveries: DeliveryServices
    webhook_sender: WebhookSender


def build(
    settings: Settings,
    metrics: SubscriptionMetrics,
    stores: Stores,
    search: SearchServices,
    authenticator: Authenticator,
) -> SubscriptionServices:
    async def compute(request: SearchRequest, revisions: Revisions) -> ComputedAnswer:
        return await compute_answer(
            search.searcher,
            request.scope,
            request.query,
            search.rag_tools,
            search.metrics.search,
            revisions,
        )

    follower = ChangeFollower(
        stores.database,
        # The primary: the announcement of a change is faster than its replay on a standby.
        ChangeLogFeed(ChangeLog(stores.database), stores.tenants),
        stores.principals,
        stores.subscriptions,
        compute,
        metrics.evaluated,
    )
    watchers = WatcherServices(
        follower, stores.subscriptions, search, authenticator, search.read_log
    )
    policy = AddressPolicy(parse_networks(listed(settings.webhook_networks)))
    deliveries = DeliveryServices(
        WebhookClient(policy), stores.webhooks, stores.principals, watchers, metrics, PAUSES_S
    )
    return SubscriptionServices(
        settings,
        metrics,
        stores.subscriptions,
        compute,
        follower,
        watchers,
        stores.webhooks,
        policy,
        deliveries,
        WebhookSender(stores.database, deliveries),
    )
