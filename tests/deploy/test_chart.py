"""The Helm chart, rendered and linted by Helm, against Kubernetes' schemas and the settings."""

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from docs.generate import chart
from gateway.configured import extension_settings
from gateway.settings.setting_sources import unknown_variables
from gateway.settings.settings import Settings
from tests.deploy.tools import CHART, ROOT, check_object, helm, needs_tools, render

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_tools]

# The oldest that the chart allows, and the newest whose schemas there are.
KUBERNETES = ("1.30", "1.37")
OF_OPERATOR = {"ServiceMonitor", "PodMonitor"}  # whose schemas no package brings
EVERYTHING: dict[str, Any] = {
    "image": {"digest": "sha256:" + "0" * 64, "pullSecrets": ["registry"]},
    "settings": {
        "NEARHIT_SHARD_BYTES_MAX": 268435456,
        "NEARHIT_REDIS_TIMEOUT_S": 0.05,
        "NEARHIT_JWT_ISSUER": 'I can\'t: "no" # really',
        "NEARHIT_SOURCES_DIR": "/sources",
    },
    "secrets": {
        "NEARHIT_OPENAI_API_KEY": {"name": "models", "key": "openai"},
        "NEARHIT_JWT_SECRET": {"name": "tokens", "key": "secret"},
    },
    "gateway": {
        "workers": 4,
        "podAnnotations": {"a": "b"},
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "search", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
    },
    "autoscaling": {"enabled": True},
    "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {"monitors": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]},
    "service": {"annotations": {"a": "b"}},
    "volumes": [{"name": "sources", "persistentVolumeClaim": {"claimName": "handbooks"}}],
    "volumeMounts": [{"name": "sources", "mountPath": "/sources", "readOnly": True}],
}


def of_kind(objects: list[Any], kind: str, name: str = "") -> Any:
    (found,) = (
        each for each in objects if each["kind"] == kind and each["metadata"]["name"].endswith(name)
    )
    return found


def container_of(objects: list[Any], component: str) -> Any:
    (container,) = of_kind(objects, "Deployment", component)["spec"]["template"]["spec"][
        "containers"
    ]
    return container


def environment_of(container: Any) -> dict[str, Any]:
    """Values of settings; of secrets, where they are."""
    names = [variable["name"] for variable in container["env"]]
    assert len(names) == len(set(names)), "a variable is set twice"
    return {
        variable["name"]: variable.get("value", variable.get("valueFrom"))
        for variable in container["env"]
    }


def test_the_schema_names_the_settings_of_the_code() -> None:
    assert chart.SCHEMA.read_text(encoding="utf-8") == chart.schema(), "run `make docs`"


def test_the_chart_has_the_version_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))

    assert described["appVersion"] == described["version"] == project["version"]


@pytest.mark.sampled("everything")
@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["defaults", "everything"])
async def test_kubernetes_accepts_what_the_chart_renders(values: dict[str, Any]) -> None:
    objects = await render(values)

    for rendered in objects:
        for version in KUBERNETES:
            if rendered["kind"] not in OF_OPERATOR:
                check_object(rendered, version)
    kinds = {rendered["kind"] for rendered in objects}
    assert ("HorizontalPodAutoscaler" in kinds) == (kinds >= OF_OPERATOR) == bool(values)
    assert kinds >= {"Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"}


async def test_helm_lints_the_chart_without_a_warning() -> None:
    assert "[WARNING]" not in await helm("lint", "--strict", str(CHART))


async def test_pods_get_settings_that_exist_in_a_form_that_the_gateway_accepts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objects = await render(EVERYTHING)
    for component in ("gateway", "worker"):
        with monkeypatch.context() as patched:
            variables = environment_of(container_of(objects, component))
            assert unknown_variables(extension_settings.fields(), variables) == []
            for name, value in variables.items():
                patched.setenv(name, value if isinstance(value, str) else f"redis://{'-' * 32}")
            settings = Settings()

        assert settings.shard_bytes_max == 268435456
        assert settings.redis_timeout_s == 0.05
        assert settings.jwt_issuer == EVERYTHING["settings"]["NEARHIT_JWT_ISSUER"]


@pytest.mark.sampled("settings.NEARHIT_PORT=9-NEARHIT_PORT")
@pytest.mark.parametrize(
    ("assignment", "complaint"),
    [
        ("settings.NEARHIT_SHARD_BYTE_MAX=1", "NEARHIT_SHARD_BYTE_MAX"),
        ("settings.NEARHIT_ADMIN_KEY=in-the-clear-0123456789", "NEARHIT_ADMIN_KEY"),
        ("settings.NEARHIT_PORT=9", "NEARHIT_PORT"),
        ("secrets.NEARHIT_ADMIN_KEY=in-the-clear-0123456789", "got string, want object"),
        ("secrets.NEARHIT_ADMIN_KEY.value=in-the-clear-012345", "'value' not allowed"),
        ("gateway.replica=3", "'replica' not allowed"),
    ],
)
async def test_a_value_that_is_unknown_or_a_secret_is_refused(
    assignment: str, complaint: str
) -> None:
    assert complaint in await helm("template", "r", str(CHART), "--set", assignment, expect=1)


async def test_pods_are_confined() -> None:
    objects = await render(EVERYTHING)

    assert of_kind(objects, "ServiceAccount")["automountServiceAccountToken"] is False
    for component in ("gateway", "worker"):
        pod = of_kind(objects, "Deployment", component)["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        # Else the Service `nearhit` sets NEARHIT_PORT=tcp://…, which is no port.
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["runAsUser"] > 0
        container = container_of(objects, component)
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        written = {mount["mountPath"] for mount in container["volumeMounts"]} - {"/sources"}
        assert written == ({"/tmp", "/dev/shm"} if component == "gateway" else {"/tmp"})  # noqa: S108  the container's


async def test_secrets_are_references_and_the_worker_gets_none_of_callers() -> None:
    objects = await render(EVERYTHING)
    gateway = environment_of(container_of(objects, "gateway"))
    worker = environment_of(container_of(objects, "worker"))

    assert not [rendered for rendered in objects if rendered["kind"] == "Secret"]
    for name in json.loads(chart.schema())["$defs"]["secrets"]["propertyNames"]["enum"]:
        assert "secretKeyRef" in gateway.get(name, {"secretKeyRef": "not set"}), name
    assert gateway["NEARHIT_OPENAI_API_KEY"]["secretKeyRef"] == {"name": "models", "key": "openai"}
    assert gateway.keys() - worker.keys() == {
        "NEARHIT_ADMIN_KEY",
        "NEARHIT_JWT_SECRET",
        "NEARHIT_PORT",
        "NEARHIT_SHUTDOWN_S",
        "NEARHIT_WORKERS",
    }


async def test_a_pod_lives_until_its_requests_are_finished() -> None:
    objects = await render({"gateway": {"preStopSeconds": 5, "shutdownSeconds": 90}})
    pod = of_kind(objects, "Deployment", "gateway")["spec"]["template"]["spec"]
    container = container_of(objects, "gateway")

    before_s = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain_s = int(environment_of(container)["NEARHIT_SHUTDOWN_S"])
    assert (before_s, drain_s) == (5, 90)
    assert pod["terminationGracePeriodSeconds"] > before_s + drain_s


async def test_names_and_labels_lead_from_one_object_to_the_other() -> None:
    objects = await render(EVERYTHING, "search")
    deployments = {name: of_kind(objects, "Deployment", name) for name in ("gateway", "worker")}
    selectors = {
        "gateway": [
            of_kind(objects, "Service")["spec"]["selector"],
            of_kind(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
            of_kind(objects, "NetworkPolicy", "gateway")["spec"]["podSelector"]["matchLabels"],
        ],
        "worker": [
            of_kind(objects, "PodMonitor")["spec"]["selector"]["matchLabels"],
            of_kind(objects, "NetworkPolicy", "worker")["spec"]["podSelector"]["matchLabels"],
        ],
    }

    for component, deployment in deployments.items():
        labels = deployment["spec"]["template"]["metadata"]["labels"].items()
        (other,) = deployments.keys() - {component}
        not_ours = deployments[other]["spec"]["template"]["metadata"]["labels"].items()
        for selector in [deployment["spec"]["selector"]["matchLabels"], *selectors[component]]:
            assert selector.items() <= labels
            assert not selector.items() <= not_ours
    monitored = of_kind(objects, "ServiceMonitor")["spec"]["selector"]["matchLabels"]
    assert monitored.items() <= of_kind(objects, "Service")["metadata"]["labels"].items()
    scaled = of_kind(objects, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"]
    assert scaled == deployments["gateway"]["metadata"]["name"]
    assert "replicas" not in deployments["gateway"]["spec"]  # or each upgrade undoes the scaling


async def test_a_policy_without_peers_admits_nobody() -> None:
    """In a NetworkPolicy a rule with an empty `from` admits everybody."""
    objects = await render({"networkPolicy": {"callers": []}})

    for component in ("gateway", "worker"):
        assert of_kind(objects, "NetworkPolicy", component)["spec"]["ingress"] == []


@pytest.mark.thorough
async def test_the_notes_name_commands_that_exist() -> None:
    notes = await helm(
        "install", "nearhit", str(CHART), "--dry-run=client", "--namespace", "search"
    )

    assert "http://nearhit.search:8080" in notes
    assert "exec deployment/nearhit-gateway -- nearhit tenant create acme" in notes


async def test_the_values_of_the_page_are_accepted() -> None:
    page = (ROOT / "docs" / "operations" / "kubernetes.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^ +```yaml\n(.*?)^ +```", page, re.MULTILINE | re.DOTALL)
    assignments = re.findall(r"--set \S+", page)

    objects = await render(yaml.safe_load(block), options=" ".join(assignments).split())

    assert container_of(objects, "gateway")["image"].startswith("registry.example.com/nearhit:")
    assert of_kind(objects, "HorizontalPodAutoscaler")
    assert of_kind(objects, "ServiceMonitor")
