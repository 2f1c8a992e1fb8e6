"""Names that other tools use for spec fields.

They come from TorchX, SkyPilot, Slurm, Ray, Kubeflow, Flyte, SageMaker, Vertex AI, Docker Compose, torchrun and
Kubernetes itself. Names are compared without `_`, `-` and letter case, and only for unknown fields.
"""

from __future__ import annotations

from functools import cache

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final


class Alias(NamedTuple):
    """The spec field for another tool's name."""

    field: tuple[str, ...]
    """Path below `spec`; below `podTemplate` it continues in Kubernetes' own fields."""
    note: str = ""
    """How to write the value, if the field takes another form."""

    @property
    def keeps_value(self) -> bool:
        """Whether the value can be moved unchanged."""
        return not self.note


_POD: Final = "podTemplate.spec"
_NODES: Final = "the number of training pods"
_RANGE: Final = 'a range, such as "2:4"'
_SHELL: Final = "a list, such as [bash, -c, ...]; the image should contain what the job needs"

_ROWS: Final[tuple[tuple[str, str, str], ...]] = (
    # field, note, names
    ("image", "", "containerImage dockerImage docker imageUri imageName baseImage trainingImage imageId"),
    ("image", "the image's name; names.container names the container", "container"),
    ("image", "an image that contains these packages", "packagesToInstall packages requirements pip conda condaEnv "
     "dependencies runtimeEnv pipPackages requirementsTxt"),
    ("imagePullPolicy", "", "pullPolicy imagePull"),
    ("imagePullSecrets", "a list of {name: ...}", "pullSecrets pullSecret imagePullSecret registryCredentials "
     "dockerSecret imageSecrets registrySecret"),
    ("script", "", "code main program mainFile pythonFile scriptPath trainingScript trainScript file sourceFile "
     "codeFile pythonScript mainPythonFile"),
    ("script", "a Python file; a program that is not Python goes into command", "entrypoint entry run exec "
     "cmd runCommand job executable app binary runScript launchCommand trainCommand torchrun"),
    ("module", "", "pythonModule mainModule packageName m entryModule"),
    ("args", "a list, one argument per item", "arguments argument argv parameters params hyperparameters hparams "
     "scriptArgs commandArgs config flags options programArgs overrides hyperParams scriptArguments"),
    ("command", _SHELL, "setup preRun initCommand setupCommands startup startupScript setupScript bootstrap "
     "preCommand init shell bashScript"),
    ("workingDir", "", "workdir cwd workDirectory workingDirectory chdir dir wd"),
    ("env", "a mapping, NAME: value", "environment envs envVars envVar environmentVariables variables vars "
     "envVariables environ export"),
    ("env", "variables such as WANDB_PROJECT, and WANDB_API_KEY as {secretKeyRef: {name: ..., key: ...}}",
     "wandb mlflow tensorboard logging monitoring comet neptune tracking"),
    ("envFrom", "a list, such as [{secretRef: {name: ...}}]", "environmentFile envFile secrets secretEnv "
     "secretRequests configMaps envSecrets secret envFromSecret configMap envFromSource"),
    # size
    ("nodes", "", "node numNodes nnodes nodeCount numberOfNodes hosts numHosts hostCount instances "
     "instanceCount machines machineCount numMachines numInstances replicas numReplicas replicaCount completions "
     "parallelism pods podCount numPods size count podsCount nodesCount nodeNum numHost numberOfInstances"),
    ("nodes", "the number of training pods, or worker.replicas next to a master", "workers numWorkers workersCount "
     "workerCount workerReplicas nWorkers numberOfWorkers workerNum"),
    ("nodes", f'{_NODES}; elastic.nnodes "2:4" starts with fewer', "minMember minCount"),
    ("nodes", f"{_NODES}, and elastic.nprocPerNode the processes of each", "ntasks worldSize numTasks tasks np nprocs "
     "numProcesses numProcs"),
    ("nodes", "1, which needs no rendezvous between nodes (nnodes is 1 then)", "standalone local singleNode"),
    ("master", "and worker: {replicas: N}, or nodes for equal pods", "pytorchReplicaSpecs replicaSpecs head "
     "headGroupSpec chief launcher mpiReplicaSpecs ps workerGroupSpecs workerGroups"),
    ("worker", "{replicas: N}", "workerSpec workerGroup workerConfig"),
    ("elastic.nnodes", _RANGE, "minReplicas maxReplicas minNodes maxNodes minWorkers maxWorkers elasticPolicy minSize "
     "maxSize minReplica maxReplica minNode maxNode scaling autoscaling scalingConfig minInstances maxInstances min "
     "max"),
    ("elastic.nprocPerNode", "", "nproc nprocPerNode numProcPerNode processesPerNode procsPerNode slotsPerWorker "
     "ntasksPerNode tasksPerNode workersPerNode processesPerHost numProcessesPerNode procPerNode nprocPerWorker "
     "gpusPerTask processes processCount mpiProcsPerNode ranksPerNode ppn"),
    ("elastic.maxRestarts", "", "maxRestart restarts numRestarts restartLimit torchrunRestarts maxRestartCount "
     "maxFailures"),
    ("elastic.maxRestarts", "restarts of processes in their pods; runPolicy.backoffLimit counts failed pods",
     "failureConfig retries maxRetries retry retryPolicy retryStrategy numRetries maxAttempts retryLimit retryCount "
     "attempts failurePolicy"),
    ("elastic.rdzvBackend", "", "rendezvousBackend rdzv rendezvous"),
    ("elastic.rdzvBackend", "c10d, static or etcd-v2; nccl or gloo is the script's choice, in args or env", "backend "
     "distributedBackend processGroupBackend commBackend"),
    ("elastic.rdzvEndpoint", "HOST:PORT of an etcd server", "endpoint rendezvousEndpoint rdzvHost etcd etcdEndpoint"),
    ("elastic.rdzvEndpoint", "HOST:PORT of an etcd server; otherwise node 0's address and masterPort are filled in",
     "masterAddr masterAddress masterHost mainProcessIp headAddress masterIp leaderAddress"),
    ("elastic.rdzvId", "", "rendezvousId runId jobId"),
    ("elastic.rdzvConfigs", "a mapping, such as {join_timeout: 900}", "rdzvConf rdzvConfig joinTimeout rdzvTimeout "
     "rendezvousTimeout rendezvousConfig rdzvConfiguration"),
    ("elastic.monitorInterval", "", "monitoringInterval"),
    ("elastic.startMethod", "", "multiprocessingStartMethod mpStartMethod"),
    ("masterPort", "", "port rdzvPort mainProcessPort masterPorts torchPort"),
    ("ports", "a list, such as [{containerPort: 8080}]; masterPort is that of the rendezvous", "portMap portMappings "
     "expose containerPort containerPorts"),
    ("env", "{PET_LOG_DIR: ...}, which torchrun reads", "logDir "),
    ("env", "{PET_REDIRECTS: ...}, which torchrun reads", "redirects redirect"),
    ("env", "{PET_TEE: ...}, which torchrun reads", "tee"),
    # resources
    ("resources.cpu", "", "cpus numCpus cpuCount vcpus vcpu cores ncpus cpuCores cpuRequest cpusPerNode cpusPerTask "
     "numCores cpuPerNode cpuLimit ncpu"),
    ("resources.memory", "", "mem memoryLimit memLimit ram memoryRequest memoryMb memMb memoryGb memMbs memPerNode "
     "memoryPerNode memorySize memGb memoryMib memoryGib memRequest"),
    ("resources.gpu", "", "gpus numGpus gpuCount ngpus gpusPerNode gpuPerNode gpuLimit gpuNum nGpu acceleratorCount "
     "devicesPerNode numAccelerators gpusPerWorker gpuRequest gpuNumber numGpu gpusPerReplica gpusPerPod "
     "numGpusPerNode tpus numTpus tpuCount neuronCores gres gpusPerHost"),
    ("resources.gpu", "the number per pod; accelerator names the kind", "devices device tres"),
    ("resources.ephemeralStorage", "", "disk diskSize diskGb scratch storage localStorage ephemeralDisk tmpSize "
     "diskSpace ephemeral scratchSize bootDiskSize volumeSize"),
    ("resources", "per pod: cpu, memory, gpu", "resource resourcesPerWorker resourcesPerNode resourcesPerReplica "
     "resourceRequirements perNode limitsAndRequests resourceConfig machineConfig res workerResources"),
    ("resources.requests", "", "request"),
    ("resources.limits", "", "limit"),
    ("resources.devices", "a mapping, such as {hugepages-2Mi: 1Gi}", "hugepages extendedResources hugepage "
     "customResources extraResources rdmaDevices"),
    ("sharedMemory", 'true, or a size such as "16Gi"', "shm shmSize shmem sharedMem increaseSharedMem devShm shmSizeMb "
     "sharedMemorySize dshm enableSharedMemory shmVolume shmEnabled increaseSharedMemory devShmSize"),
    ("sharedMemory", f"memory shared by processes; hostIPC: true goes into {_POD}", "ipc ipcMode"),
    # hardware and placement
    ("accelerator", "its name, such as nvidia-h100", "accelerators gpuType acceleratorType gpuModel gpuKind gpuName "
     "instanceType machineType machine instance nodeType vmSize vmType gpuProduct flavor deviceType hardware sku "
     "acceleratorName gpuFamily tpuType acceleratorKind workerType computeType hwType tpu instanceTypes"),
    ("fabric", "its name, such as efa, infiniband or gib", "network efa rdma infiniband ib roce networkTier "
     "interconnect networking gpudirect tcpx tcpxo enableEfa nccl ncclPlugin networkFabric highSpeedNetwork "
     "enableRdma useRdma bestNetwork efaEnabled useEfa sriov"),
    ("spot", "", "useSpot preemptible interruptible spotInstances spotInstance preemptable enableSpot useSpotInstances "
     "preemptibility preemption capacityType lowPriority isSpot spotVm managedSpot allowSpot"),
    ("topology", "{required: rack} or {preferred: rack}", "rack placement colocate compact placementGroup "
     "topologyPolicy networkTopology packing placementPolicy placementStrategy colocation blockTopology"),
    ("affinity", "Kubernetes' affinity; whole machines follow from resources", "exclusive nodeAffinity podAffinity "
     "podAntiAffinity antiAffinity"),
    ("nodeSelector", "", "nodeSelectors selector nodeLabels nodePool nodeSelection nodeConstraints constraint "
     "constraints nodelist"),
    ("tolerations", "", "toleration taints nodeTolerations"),
    ("schedulerName", "", "scheduler schedulerClass batchScheduler"),
    # queues and priority
    ("queue", "", "localQueue queueName kueueQueue schedulingQueue partition jobQueue project clusterQueue"),
    ("queue", "the queue's name", "kueue schedulingConfig"),
    ("queue", "and priorityClassName for the pods; gangs follow from the queue", "schedulingPolicy gangScheduling gang "
     "gangPolicy podGroup podGroupPolicy scheduling coscheduling podGroupSpec"),
    ("priorityClassName", "of the pods; priority is the job's in its queue", "priorityClass qos podPriority "
     "schedulingPriority nice"),
    ("priority", "", "jobPriority queuePriority workloadPriority"),
    # storage
    ("volumeMounts", "a list of {name: ..., mountPath: ...}, each naming one of volumes", "mounts volumeMount mount "
     "mountPath mountPaths volumesMounts"),
    ("volumes", "and volumeMounts: [{name: ..., mountPath: ...}]", "volume pvc persistentVolumeClaim "
     "persistentVolumeClaims pvcs claims fileMounts storageMounts dataVolume datasets dataset checkpointDir nfs "
     "data claimName volumeClaimTemplates dataDir persistentVolumes volumesFrom buckets bucket hostPath storages "
     "inputs inputData s3 checkpointVolume"),
    # ends
    ("runPolicy.activeDeadlineSeconds", "", "deadline timeoutSeconds maxRuntimeSeconds maxRunDurationSeconds "
     "activeDeadline deadlineSeconds maxRuntimeInSeconds"),
    ("runPolicy.activeDeadlineSeconds", "in seconds", "timeout maxRuntime walltime timeLimit maxDuration time "
     "maxRunDuration maxTime stoppingCondition"),
    ("runPolicy.ttlSecondsAfterFinished", "", "ttl ttlSeconds ttlAfterFinished cleanupTtl ttlSecondsAfter "
     "ttlSecondsFinished"),
    ("runPolicy.cleanPodPolicy", "All, Running or None", "shutdownAfterJobFinishes cleanPods cleanup deletePods "
     "cleanupPolicy deletionPolicy podCleanup cleanPod autostop autodown down deleteAfterFinish"),
    ("runPolicy.backoffLimit", "", "podRetries backoff backOffLimit podFailureLimit maxPodFailures"),
    ("runPolicy.suspend", "", "suspended paused pause hold"),
    ("runPolicy.onPodFailure", "RestartPod, RestartJob or FailJob", "onFailure podFailurePolicy failureAction"),
    ("runPolicy.successPolicy", "Node0 or AllNodes", "successCriteria successCondition"),
    ("runPolicy", "activeDeadlineSeconds, ttlSecondsAfterFinished, backoffLimit and others", "policy policies "
     "lifecycle runpolicies jobPolicy"),
    ("restartPolicy", "", "restart restartMode"),
    ("elastic", "torchrun's settings; runPolicy has deadlines and retries", "taskConfig elasticConfig torch "
     "torchElastic distributed distribution torchrunConfig launcherConfig mlPolicy torchPolicy strategy torchConfig"),
    # identity and security
    ("serviceAccountName", "", "serviceAccount sa serviceaccounts executionRole iamRole roleArn role"),
    ("podSecurityContext", "{%s: ...}", "fsGroup runAsUser runAsGroup runAsNonRoot supplementalGroups "
     "seLinux sysctls"),
    ("podSecurityContext", "{runAsUser: ...}", "user uid userId"),
    ("podSecurityContext", "{runAsGroup: ...}", "gid group groupId"),
    ("securityContext", "{privileged: true} or {capabilities: {add: [...]}}", "privileged capabilities capAdd "
     "linuxCapabilities"),
    ("securityContext", "{capabilities: {add: [IPC_LOCK]}} for memlock; other limits are set on the Kubernetes node",
     "ulimits ulimit memlock"),
    # the pods
    ("podAnnotations", "for pods; metadata.annotations for the objects", "annotations annotation"),
    ("podLabels", "for pods; metadata.labels for the objects", "labels label tags tag"),
    ("podTemplate", "{metadata: ..., spec: ...} for what the spec has no field for", "template podSpec pod "
     "podOverrides podConfig templates podTemplateOverrides kubernetes k8s podTemplateSpec spec extra"),
    (f"{_POD}.initContainers", "", "initContainer inits"),
    (f"{_POD}.initContainers", "containers that run first; a Service of another job is waited for there", "dependsOn "
     "initializer after waitFor"),
    (f"{_POD}.containers", "next to the main container; as initContainers with restartPolicy: Always the job can end",
     "sidecars sidecar extraContainers additionalContainers"),
    (f"{_POD}.containers", "only others: image, command, args and env are the main container's", "containers"),
    (f"{_POD}.containers", "in an entry with the main container's name", "healthcheck probe "),
    (f"{_POD}.runtimeClassName", "", "runtimeClass containerRuntime"),
    (f"{_POD}.topologySpreadConstraints", "", "topologySpread spreadConstraints"),
    (f"{_POD}.dnsConfig", "", "dns dnsServers"),
    (f"{_POD}.hostAliases", "", "extraHosts addHosts"),
    (f"{_POD}.imagePullSecrets", "", "pullCredentials"),
    ("hostNetwork", "true", "networkMode hostNet useHostNetwork"),
    ("terminationGracePeriodSeconds", "in seconds", "stopGracePeriod gracePeriod terminationGracePeriod "
     "gracePeriodSeconds graceSeconds stopTimeout"),
    ("target", "", "operator jobKind jobType orchestrator backendType controller apiKind workload"),
    ("target", "the kind to write, such as pytorchjob; kind itself is TrainingJob", "kind"),
    ("roles", "for pods that take no part in the rendezvous", "services service parameterServer dataLoader evaluator "
     "auxiliary"),
    ("names", "of the containers and roles", "containerName"),
    ("runtimeRef", "{name: ...}", "runtime trainingRuntime clusterTrainingRuntime runtimeName"),
)  # fmt: skip

DOCUMENT: Final = {
    "metadata": "move it out of spec: metadata is next to spec",
    "name": "set metadata.name",
    "jobname": "set metadata.name",
    "generatename": "use metadata.generateName",
    "namespace": "set metadata.namespace",
    "ns": "set metadata.namespace",
    "apiversion": "move it out of spec: apiVersion is next to spec",
    "version": "move it out of spec: apiVersion is next to spec",
    "cloud": "set spec.cloud in the cluster profile",
    "cluster": "describe the cluster in a profile and pass it with --cluster FILE",
    "region": "use nodeSelector with topology.kubernetes.io/region",
    "zone": "use nodeSelector with topology.kubernetes.io/zone",
}
"""Names that belong to the document or the cluster rather than to the spec."""


def normalize(name: str) -> str:
    """Return a name without `_`, `-` and letter case."""
    return name.replace("_", "").replace("-", "").lower()


@cache
def _table() -> Mapping[str, Alias]:
    return {
        normalize(name): Alias(tuple(field.split(".")), note.replace("%s", name))
        for field, note, names in _ROWS
        for name in names.split()
    }


def find_alias(name: str) -> Alias | None:
    """Return the spec field for another tool's name, or None."""
    return _table().get(normalize(name))
