"""The variables that NCCL, PyTorch and OpenMP read, and where a container's are written.

The simulator resolves values: their order, the operators' variables and references.

Names are from NCCL 2.29 (user guide, environment variables, and those of its source that are in use), PyTorch 2.13
(torch.distributed, CUDA notes; another rule checks torchrun's PET_*) and OpenMP 5.2.
"""

from __future__ import annotations

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.spelling import nearest
from ptcompile.linter.rule import Subject
from ptcompile.world.templates import ManifestContainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.diagnostics import Path
    from ptcompile.kubernetes.unstructured import Json


_POD_SPECIFIC: Final = (
    "<metadata.name>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "$(hostname", "`hostname", "$HOSTNAME",
    "${HOSTNAME", "$RANDOM", "${RANDOM", "$(uuidgen", "`uuidgen", "$(cat /proc/sys/kernel/random", "$(openssl rand",
)  # fmt: skip
"""Texts that differ between any two pods, as the simulator leaves them in a value."""
_NEVER_NUMBERS: Final = (
    "<metadata.name>", "<metadata.namespace>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "<status.hostIP>",
    "<status.hostIPs>", "<spec.nodeName>", "<spec.serviceAccountName>", "$(hostname)", "$(hostname -f)", "`hostname`",
)  # fmt: skip
"""Sources whose text is not a whole number: a name of a pod or a node, an address, a UID."""


def pod_specific_part(value: str) -> str | None:
    """Return the part of a value that differs between pods, or None."""
    return next((part for part in _POD_SPECIFIC if part in value), None)


def is_never_number(value: str) -> bool:
    """Return whether an unresolved value is certainly not a whole number."""
    return ("<" in value or "hostname" in value) and any(source in value for source in _NEVER_NUMBERS)


_NCCL = """
ALGO ALLOC_P2P_NET_LL_BUFFERS BUFFSIZE CGA_CLUSTER_SIZE CHECKS_DISABLE CHECK_POINTERS COLLNET_ENABLE
COLLNET_NODE_THRESHOLD COMM_BLOCKING COMM_ID COMM_SPLIT_SHARE_RESOURCES CONF_FILE CREATE_THREAD_CONTEXT CROSS_NIC
CTA_POLICY CUMEM_ENABLE CUMEM_HOST_ENABLE DEBUG DEBUG_FILE DEBUG_SUBSYS DEBUG_TIMESTAMP_FORMAT DEBUG_TIMESTAMP_LEVELS
DMABUF_ENABLE GDRCOPY_ENABLE GDR_FLUSH_DISABLE GRAPH_DUMP_FILE GRAPH_FILE GRAPH_MIXING_SUPPORT
GRAPH_REGISTER HOSTID IB_ADAPTIVE_ROUTING IB_ADDR_FAMILY IB_ADDR_RANGE IB_AR_THRESHOLD IB_CUDA_SUPPORT IB_DISABLE
IB_ECE_ENABLE IB_FIFO_TC IB_GDR_LEVEL IB_GID_INDEX IB_HCA IB_MERGE_NICS IB_MERGE_VFS IB_MQP_RETRY_ALL IB_MQP_RETRY_CNT
IB_PCI_RELAXED_ORDERING IB_PKEY IB_QPS_PER_CONNECTION IB_RETRY_CNT IB_RETURN_ASYNC_EVENTS IB_ROCE_VERSION_NUM IB_SL
IB_SPLIT_DATA_ON_QPS IB_TC IB_TIMEOUT IB_USE_INLINE IGNORE_CPU_AFFINITY IGNORE_DISABLED_P2P LAUNCH_MODE
LAUNCH_ORDER_IMPLICIT LAUNCH_RACE_FATAL LL128_BUFFSIZE LL128_NTHREADS LL_BUFFSIZE LL_THRESHOLD LOCAL_REGISTER MAX_CTAS
MAX_NCHANNELS MAX_NRINGS MAX_P2P_NCHANNELS MIN_CTAS MIN_NCHANNELS MIN_NRINGS MIN_P2P_NCHANNELS MNNVL_CLIQUE_ID
MNNVL_ENABLE MNNVL_UUID NCHANNELS_PER_NET_PEER NCHANNELS_PER_PEER NET NETDEVS_POLICY NET_DISABLE_INTRA NET_FORCE_FLUSH
NET_FORCE_MERGE NET_GDR_C2C NET_GDR_LEVEL NET_GDR_READ NET_MERGE_LEVEL NET_OVERHEAD NET_PLUGIN NET_SHARED_BUFFERS
NET_SHARED_COMMS NSOCKS_PERTHREAD NTHREADS NVB_DISABLE NVLSTREE_MAX_CHUNKSIZE NVLS_CHUNKSIZE NVLS_ENABLE
NVLS_NCHANNELS OOB_NET_ENABLE OOB_NET_IFNAME P2P_DIRECT_DISABLE P2P_DISABLE P2P_LEVEL P2P_LL_THRESHOLD
P2P_NET_CHUNKSIZE P2P_NVL_CHUNKSIZE P2P_PCI_CHUNKSIZE P2P_PXN_LEVEL P2P_READ_ENABLE P2P_USE_CUDA_MEMCPY
PROFILER_PLUGIN PROGRESS_APPENDOP_FREQ PROTO PXN_C2C PXN_DISABLE RAS_ADDR RAS_ENABLE RAS_TIMEOUT_FACTOR RINGS
RUNTIME_CONNECT SET_CPU_STACK_SIZE SET_STACK_SIZE SET_THREAD_NAME SHM_DISABLE SHM_LOCALITY SHM_MEMCPY_MODE
SHM_USE_CUDA_MEMCPY SINGLE_PROC_MEM_REG_ENABLE SINGLE_RING_THRESHOLD SOCKET_FAMILY SOCKET_IFNAME SOCKET_NTHREADS
SOCKET_POLL_TIMEOUT_MSEC SOCKET_RETRY_CNT SOCKET_RETRY_SLEEP_MSEC SYM_CTAS THREAD_THRESHOLDS TOPO_DUMP_FILE
TOPO_DUMP_FILE_RANK TOPO_FILE TREE_THRESHOLD TUNER_CONFIG_FILE TUNER_PLUGIN WARN_ENABLE_DEBUG_INFO WIN_ENABLE
WORK_ARGS_BYTES WORK_FIFO_BYTES
"""
_TORCH_NCCL = """
ABORT_IN_DESTROY_PG ASYNC_ERROR_HANDLING AVOID_RECORD_STREAMS BCAST_UNIQUEID BLOCKING_WAIT COORD_CHECK_MILSEC
CUDA_EVENT_CACHE DEBUG_INFO_PIPE_FILE DEBUG_INFO_TEMP_FILE DESYNC_DEBUG DUMP_ON_TIMEOUT ENABLE_MONITORING
ENABLE_TIMING EXTRA_DUMP_ON_EXEC HEARTBEAT_TIMEOUT_SEC HIGH_PRIORITY LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN NAN_CHECK
NONBLOCKING_TIMEOUT PROPAGATE_ERROR RANKS_PER_ROOT RETHROW_CUDA_ERRORS SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING
TRACE_BUFFER_SIZE TRACE_CPP_STACK USE_COMM_NONBLOCKING USE_TENSOR_REGISTER_ALLOCATOR_HOOK WAIT_TIMEOUT_DUMP_MILSEC
"""
_PLAIN = """
CUDA_DEVICE_MAX_CONNECTIONS CUDA_DEVICE_ORDER CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING CUDA_VISIBLE_DEVICES
GLOO_SOCKET_IFNAME OMP_DISPLAY_ENV OMP_DYNAMIC OMP_MAX_ACTIVE_LEVELS OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND
OMP_SCHEDULE OMP_STACKSIZE OMP_THREAD_LIMIT OMP_WAIT_POLICY PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF PYTORCH_JIT
PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NVML_BASED_CUDA_CHECK TORCHELASTIC_ERROR_FILE TORCHELASTIC_RUN_ID
TORCHINDUCTOR_CACHE_DIR TORCH_COMPILE_DEBUG TORCH_CPP_LOG_LEVEL TORCH_CUDA_ARCH_LIST TORCH_DISTRIBUTED_DEBUG
TORCH_EXTENSIONS_DIR TORCH_FR_BUFFER_SIZE TORCH_HOME TORCH_LOGS TORCH_SHOW_CPP_STACKTRACES TORCH_USE_CUDA_DSA
"""

RENAMED_VARIABLES = {
    f"NCCL_{name}": f"TORCH_NCCL_{name}"
    for name in (
        "ASYNC_ERROR_HANDLING",
        "AVOID_RECORD_STREAMS",
        "BLOCKING_WAIT",
        "DESYNC_DEBUG",
        "ENABLE_TIMING",
        "TRACE_BUFFER_SIZE",
    )
}
"""PyTorch's own variables, keyed by their names before PyTorch 2.2."""

KNOWN_VARIABLES = frozenset(
    {f"NCCL_{name}" for name in _NCCL.split()}
    | {f"TORCH_NCCL_{name}" for name in _TORCH_NCCL.split()}
    | {*_PLAIN.split(), *RENAMED_VARIABLES}
)

LEVEL_VARIABLES = {
    "NCCL_DEBUG": ("VERSION", "WARN", "INFO", "ABORT", "TRACE", "NONE"),
    "TORCH_DISTRIBUTED_DEBUG": ("OFF", "INFO", "DETAIL"),
}
"""Variables that accept a fixed set of values, in any letter case."""

NCCL_INTEGERS = frozenset(
    {
        "NCCL_CROSS_NIC",
        "NCCL_CUMEM_ENABLE",
        "NCCL_DMABUF_ENABLE",
        "NCCL_IB_DISABLE",
        "NCCL_IB_GID_INDEX",
        "NCCL_IB_PCI_RELAXED_ORDERING",
        "NCCL_IB_TIMEOUT",
        "NCCL_IGNORE_CPU_AFFINITY",
        "NCCL_NET_GDR_READ",
        "NCCL_NVLS_ENABLE",
        "NCCL_P2P_DISABLE",
        "NCCL_PXN_DISABLE",
        "NCCL_SHM_DISABLE",
    }
)
"""Variables that NCCL reads as whole numbers."""

THREAD_COUNTS = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
"""Numbers above 0; OpenMP accepts a list of them, one per level."""

_PREFIXES = ("NCCL", "NCLL", "NNCL", "NCC_", "TORCH", "GLOO", "OMP_", "CUDA_", "PYTORCH")


@bounded_cache(512)
def closest_variable(name: str) -> str | None:
    """Return the known variable that a name misspells by one or two characters, or None."""
    if name in KNOWN_VARIABLES or not name.startswith(_PREFIXES) or not 6 < len(name) < 64:
        return None
    return nearest(name, KNOWN_VARIABLES)


def variable_path(subject: Subject, path: Path, container: Json, name: str) -> Path:
    """Return the path of a container's variable, or of the container if a script sets it."""
    variables = ManifestContainer(path, container, init=False, main=True, find=subject.find).variables
    return next((entry.place for entry in variables if entry.name == name), path)
