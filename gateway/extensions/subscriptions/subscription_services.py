"""What subscriptions use."""

from dataclasses import dataclass

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.extension import ChangeLogFeed, SearchRequest, Services, listed
from gateway.extensions._web.addresses import AddressPolicy, parse_networks
from gateway.extensions.subscriptions.change_follower import ChangeFollower, Compute
from gateway.extensions.subscriptions.subscription_metrics import SubscriptionMetrics
from gateway.extensions.subscriptions.subscription_settings import SubscriptionSettings
from gateway.extensions.subscriptions.subscription_store import SubscriptionStore
from gateway.extensions.subscriptions.subscription_watcher import WatcherServices
from gateway.extensions.subscriptions.webhooks.webhook_delivery import (
    DeliveryServices,
    WebhookClient,
)
from gateway.extensions.subscriptions.webhooks.webhook_message import PAUSES_S
from gateway.extensions.subscriptions.webhooks.webhook_sender import WebhookSender
from gateway.extensions.subscriptions.webhooks.webhook_store import WebhookStore
from index.invalidation.changes import ChangeLog


@dataclass(frozen=True, slots=True)
class SubscriptionServices:
    settings: SubscriptionSettings
    metrics: SubscriptionMetrics
    store: SubscriptionStore
    compute: Compute
    follower: ChangeFollower
    watchers: WatcherServices
    webhooks: WebhookStore
    webhook_policy: AddressPolicy
    deliveries: DeliveryServices
    webhook_sender: WebhookSender


def build(services: Services, settings: SubscriptionSettings) -> SubscriptionServices:
    database, principals = services.stores.database, services.stores.principals
    search = services.search
    metrics = SubscriptionMetrics(services.http.metrics)
    store, webhooks = SubscriptionStore(database), WebhookStore(database)

    async def compute(request: SearchRequest, revisions: Revisions) -> ComputedAnswer:
        return await search.builder.compute(
            search.searcher, request.scope, request.query, revisions
        )

    follower = ChangeFollower(
        database,
        # The primary: the announcement of a change is faster than its replay on a standby.
        ChangeLogFeed(ChangeLog(database), services.stores.tenants),
        principals,
        store,
        compute,
        metrics.evaluated,
    )
    watchers = WatcherServices(
        follower, store, search, services.http.authenticator, search.read_log
    )
    policy = AddressPolicy(parse_networks(listed(settings.webhook_networks)))
    deliveries = DeliveryServices(
        WebhookClient(policy), webhooks, principals, watchers, metrics, PAUSES_S
    )
    return SubscriptionServices(
        settings,
        metrics,
        store,
        compute,
        follower,
        watchers,
        webhooks,
        policy,
        deliveries,
        WebhookSender(database, deliveries),
    )
