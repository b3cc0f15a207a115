#!/usr/bin/env python3
"""Says what a cluster would refuse of deploy/: Kubernetes files against the schemas of its API, and what no schema holds; shell
scripts, those inside of YAML too, against bash and shellcheck, where it is installed.

    .venv/bin/python tests/lint/deploy.py [ROOT]
"""

import pathlib
import shutil
import subprocess
import sys

import jsonschema
import kubernetes_validate
import yaml

# Job's backoffLimitPerIndex is on by default since the first.
VERSIONS = ("1.29", kubernetes_validate.latest_version())


def objects(**properties):
    return {"type": "object", "properties": properties, "additionalProperties": False}


def names(*values):
    return {"enum": list(values)}


TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
# JobSet's v1alpha2 around the Jobs that it makes, as far as it is used here.
JOBSET = objects(
    apiVersion={"const": "jobset.x-k8s.io/v1alpha2"},
    kind={"const": "JobSet"},
    metadata={"type": "object"},
    spec=objects(
        network=objects(enableDNSHostnames={"type": "boolean"}, subdomain={"type": "string"}, publishNotReadyAddresses={"type": "boolean"}),
        failurePolicy=objects(
            maxRestarts={"type": "integer"},
            rules={"type": "array", "items": {**objects(
                name={"type": "string", "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
                action=names("FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"),
                onJobFailureReasons={"type": "array", "items": names(
                    "BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy")},
                targetReplicatedJobs=TEXTS), "required": ["name", "action"]}}),
        replicatedJobs={"type": "array", "minItems": 1, "items": {**objects(
            name={"type": "string"}, replicas={"type": "integer"}, template={"type": "object"}), "required": ["name", "template"]}}))
PODS = objects(metadata={"type": "object"}, spec={"type": "object"})
TEXT_BY_NAME = {"type": "object", "additionalProperties": {"type": "string"}}
COUNT = {"type": "integer", "minimum": 0}
# KubeRay's v1 likewise.
RAYJOB = objects(
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata={"type": "object"},
    spec=objects(
        entrypoint={"type": "string"}, shutdownAfterJobFinishes={"type": "boolean"}, backoffLimit=COUNT,
        rayClusterSpec=objects(
            rayVersion={"type": "string"},
            authOptions=objects(mode=names("token", "disabled")),
            headGroupSpec=objects(rayStartParams=TEXT_BY_NAME, template=PODS),
            workerGroupSpecs={"type": "array", "items": objects(
                groupName={"type": "string"}, replicas=COUNT, minReplicas=COUNT, maxReplicas=COUNT, rayStartParams=TEXT_BY_NAME,
                template=PODS)})))
AROUND = {"JobSet": JOBSET, "RayJob": RAYJOB}


def schema_faults(resource):
    try:
        if resource["kind"] in AROUND:
            jsonschema.Draft202012Validator(AROUND[resource["kind"]]).validate(resource)
        else:
            for version in VERSIONS:
                kubernetes_validate.validate(resource, version, strict=True)
    except jsonschema.ValidationError as error:
        yield f"{'.'.join(map(str, error.path))}: {error.message}"
    except kubernetes_validate.SchemaNotFoundError as error:
        yield error.message


def jobs(resources):
    """Each Job, also those that a JobSet makes."""
    for resource in resources:
        if resource["kind"] == "Job":
            yield resource
        if resource["kind"] == "JobSet":
            for job in resource["spec"]["replicatedJobs"]:
                yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}, **job["template"]}


def containers(job):
    return job["spec"]["template"]["spec"]["containers"]


def job_faults(job):
    """What the API server says beyond its schema."""
    spec = job["spec"]
    inside = {container["name"] for container in containers(job)}
    for rule in spec.get("podFailurePolicy", {}).get("rules", []):
        if rule["action"] not in ("FailJob", "FailIndex", "Ignore", "Count"):
            yield f"podFailurePolicy: unknown action {rule['action']}"
        if rule["action"] == "FailIndex" and "backoffLimitPerIndex" not in spec:
            yield "podFailurePolicy: FailIndex without backoffLimitPerIndex"
        if ("onExitCodes" in rule) == ("onPodConditions" in rule):
            yield "podFailurePolicy: a rule has either onExitCodes or onPodConditions"
        codes = rule.get("onExitCodes", {})
        if codes.get("containerName", next(iter(inside))) not in inside:
            yield f"podFailurePolicy: no container {codes['containerName']}"
        if codes.get("values", []) != sorted(set(codes.get("values", []))):
            yield "podFailurePolicy: exit codes in order, each once"
    if "podFailurePolicy" in spec and spec["template"]["spec"].get("restartPolicy") != "Never":
        yield "podFailurePolicy wants restartPolicy: Never"
    if "backoffLimitPerIndex" in spec and spec.get("completionMode") != "Indexed":
        yield "backoffLimitPerIndex wants completionMode: Indexed"


def rank_faults(jobset):
    """Whether the processes of a run find each other."""
    name = jobset["metadata"]["name"]
    for job in jobset["spec"]["replicatedJobs"]:
        spec = job["template"]["spec"]
        env = {entry["name"]: entry.get("value") for container in containers(job["template"]) for entry in container.get("env", [])}
        if not env.get("WORLD_SIZE") == str(spec.get("completions")) == str(spec.get("parallelism")):
            yield f"WORLD_SIZE {env.get('WORLD_SIZE')}, completions {spec.get('completions')}, parallelism {spec.get('parallelism')}: one number"
        subdomain = jobset["spec"].get("network", {}).get("subdomain", name)
        if env.get("MASTER_ADDR") != f"{name}-{job['name']}-0-0.{subdomain}":
            yield f"MASTER_ADDR is not rank 0: {name}-{job['name']}-0-0.{subdomain}"


def script_faults(text, shell="bash"):
    checks = [[shell, "-n"]]
    if shutil.which("shellcheck"):
        checks.append(["shellcheck", f"--shell={shell}", "--format=gcc", "-"])
    for check in checks:
        done = subprocess.run(check, input=text, capture_output=True, text=True)
        yield from (done.stdout + done.stderr).splitlines()


def ray_faults(rayjob):
    """The pods of a RayJob as pods, and what its own schema leaves open."""
    cluster = rayjob["spec"]["rayClusterSpec"]
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        yield from schema_faults({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ray"}, **group["template"]})
    if cluster.get("authOptions", {}).get("mode") != "token":
        yield "RayJob: without authOptions.mode token, who reaches its ports runs code there"


def resource_faults(resource):
    yield from schema_faults(resource)
    if resource["kind"] == "RayJob":
        yield from ray_faults(resource)
    for job in jobs([resource]):
        if resource["kind"] == "JobSet":
            yield from schema_faults(job)
        yield from job_faults(job)
        for container in containers(job):
            if container.get("command", [])[:2] == ["sh", "-c"]:
                yield from script_faults(container["command"][2], "sh")
    if resource["kind"] == "JobSet":
        yield from rank_faults(resource)


def together_faults(resources):
    """What one object says about another."""
    sets = {resource["metadata"]["name"] for resource in resources if resource["kind"] == "JobSet"}
    claims = {resource["metadata"]["name"] for resource in resources if resource["kind"] == "PersistentVolumeClaim"}
    fenced = {resource["spec"]["podSelector"].get("matchLabels", {}).get("jobset.sigs.k8s.io/jobset-name")
              for resource in resources if resource["kind"] == "NetworkPolicy"}
    for name in sorted(sets - fenced):
        yield f"JobSet {name}: no NetworkPolicy for its pods, which trust their network"
    for job in jobs(resources):
        for volume in job["spec"]["template"]["spec"].get("volumes", []):
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if claim and claim not in claims:
                yield f"Job {job['metadata']['name']}: no claim {claim}"


def faults(root):
    found, resources = [], []
    for path in sorted((root / "deploy").rglob("*.yaml")):
        for resource in yaml.safe_load_all(path.read_text()):
            resources.append(resource)
            found += [f"{path.relative_to(root)}: {resource['kind']}: {fault}" for fault in resource_faults(resource)]
    found += [f"deploy: {fault}" for fault in together_faults(resources)]
    for path in sorted((root / "deploy").rglob("*.sbatch")):
        found += [f"{path.relative_to(root)}: {fault}" for fault in script_faults(path.read_text())]
    return found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = faults(root.resolve())
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
