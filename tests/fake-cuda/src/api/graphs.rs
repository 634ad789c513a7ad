//! Graphs.

use super::{call, call_on, pointers::Out};
use crate::{
    graph::Graphs,
    status::{CuResult, Status, refuse},
};
use std::ffi::{c_int, c_ulonglong};

/// Counts the nodes if `nodes` is null, and lists them otherwise.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphGetNodes(graph: u64, nodes: Out<u64>, count: Out<usize>) -> CuResult {
    call("cuGraphGetNodes", |driver| {
        let present = driver.graphs.get(graph).ok_or(Status::InvalidValue)?.nodes().len();
        if nodes.is_null() {
            return Ok(count.set(present)?);
        }
        // The API fills what is left of a larger array with nulls.
        let room = count.get()?;
        for index in 0..room {
            let handle = if index < present {
                Graphs::node_handle(graph, index)
            } else {
                0
            };
            nodes.set_at(index, handle)?;
        }
        Ok(count.set(present.min(room))?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphNodeGetType(node: u64, kind: Out<c_int>) -> CuResult {
    call("cuGraphNodeGetType", |driver| {
        let node = driver.graphs.node(node).ok_or(Status::InvalidValue)?;
        Ok(kind.set(node.kind())?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphInstantiateWithFlags(executable: Out<u64>, graph: u64, _flags: c_ulonglong) -> CuResult {
    call("cuGraphInstantiateWithFlags", |driver| {
        let graph = driver.graphs.get(graph).ok_or(Status::InvalidValue)?.clone();
        let handle = driver.new_handle();
        driver.graphs.insert_executable(handle, graph);
        Ok(executable.set(handle)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphUpload(executable: u64, stream: u64) -> CuResult {
    call_on("cuGraphUpload", stream, |driver, _| {
        driver.graphs.executable(executable).ok_or(Status::InvalidValue)?;
        driver.streams.refuse_if_captured(stream, "uploads a graph")
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphLaunch(executable: u64, stream: u64) -> CuResult {
    call_on("cuGraphLaunch", stream, |driver, _| {
        driver.streams.refuse_if_captured(stream, "launches a graph")?;
        let graph = driver.graphs.executable(executable).ok_or(Status::InvalidValue)?;
        if !graph.can_run() {
            return refuse(
                Status::InvalidValue,
                "a graph that allocates and does not free is launched again",
            )?;
        }
        graph.set_run();
        let nodes = graph.nodes();
        driver.run_graph(&nodes)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphExecDestroy(executable: u64) -> CuResult {
    call("cuGraphExecDestroy", |driver| {
        Ok(driver.graphs.remove_executable(executable).ok_or(Status::InvalidValue)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphDestroy(graph: u64) -> CuResult {
    call("cuGraphDestroy", |driver| {
        Ok(driver.graphs.remove(graph).ok_or(Status::InvalidValue)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            copies::{cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2, cuMemsetD8Async},
            fixture::{Gpu, assert_refused},
            memory::{cuMemAllocAsync, cuMemAllocHost_v2, cuMemFree_v2, cuMemFreeAsync},
            streams::{cuStreamBeginCapture_v2, cuStreamEndCapture},
        },
        settings::Settings,
    };

    /// Captures what `record` does on a stream.
    fn capture(gpu: &Gpu, record: impl FnOnce(u64)) -> (u64, u64) {
        let (stream, mut graph, mut executable) = (gpu.stream(), 0, 0);
        assert_eq!(cuStreamBeginCapture_v2(stream, 0), 0);
        record(stream);
        assert_eq!(cuStreamEndCapture(stream, (&mut graph).into()), 0);
        assert_eq!(cuGraphInstantiateWithFlags((&mut executable).into(), graph, 0), 0);
        (graph, executable)
    }

    #[test]
    fn captured_launches_count_when_their_graph_is_launched() {
        let gpu = Gpu::new();
        let (add, addresses) = (gpu.kernel(c"add"), [gpu.allocate(64); 2]);
        let (graph, executable) = capture(&gpu, |stream| {
            assert_eq!((gpu.add(add, stream, addresses), gpu.add(add, stream, addresses)), (0, 0));
        });
        assert_eq!((gpu.log().launches, gpu.log().graphs_captured), (0, 1));
        assert_eq!((cuGraphDestroy(graph), cuGraphUpload(executable, 0)), (0, 0));
        for _ in 0..3 {
            assert_eq!(cuGraphLaunch(executable, 0), 0);
        }
        let log = gpu.log();
        assert_eq!((log.graph_launches, log.launches_in_graphs, log.launches), (3, 6, 6));
        assert_eq!((log.kernels[0].launches, log.kernels[0].blocks), (6, 24));
        assert_eq!(
            (cuGraphExecDestroy(executable), cuGraphLaunch(executable, 0)),
            (0, Status::InvalidValue as CuResult)
        );
    }

    #[test]
    fn nodes_are_listed_with_their_types() {
        let gpu = Gpu::new();
        let (add, address) = (gpu.kernel(c"add"), gpu.allocate(64));
        let mut allocated = 0;
        let (graph, executable) = capture(&gpu, |stream| {
            assert_eq!(gpu.add(add, stream, [address; 2]), 0);
            assert_eq!(cuMemsetD8Async(address, 1, 8, stream), 0);
            assert_eq!(cuMemcpyHtoDAsync_v2(address, [0_u8; 8].as_ptr() as u64, 8, stream), 0);
            assert_eq!(cuMemAllocAsync((&mut allocated).into(), 64, stream), 0);
        });
        let (mut count, mut nodes) = (0, [9; 5]);
        assert_eq!(cuGraphGetNodes(graph, Out::null(), (&mut count).into()), 0);
        assert_eq!(count, 4);
        count = 5;
        assert_eq!(cuGraphGetNodes(graph, (&mut nodes[0]).into(), (&mut count).into()), 0);
        assert_eq!((count, nodes[4]), (4, 0));
        let kinds: Vec<i32> = nodes[..4]
            .iter()
            .map(|node| {
                let mut kind = -1;
                assert_eq!(cuGraphNodeGetType(*node, (&mut kind).into()), 0);
                kind
            })
            .collect();
        assert_eq!(kinds, [0, 2, 1, 10]);
        assert_eq!(cuGraphNodeGetType(graph, (&mut 0).into()), Status::InvalidValue as CuResult);
        assert_eq!(cuGraphLaunch(executable, 0), 0);
        assert_refused(cuGraphLaunch(executable, 0), Status::InvalidValue, "does not free");
        assert_eq!(cuMemFreeAsync(allocated, 0), 0);
    }

    #[test]
    fn a_graph_uploads_what_it_captured_and_downloads_to_pinned_memory() {
        let gpu = Gpu::new();
        let (address, mut pinned) = (gpu.allocate(8), 0);
        assert_eq!(cuMemAllocHost_v2((&mut pinned).into(), 8), 0);
        let (_, executable) = capture(&gpu, |stream| {
            let bytes = Box::new([7_u8; 8]);
            assert_eq!(cuMemcpyHtoDAsync_v2(address, bytes.as_ptr() as u64, 8, stream), 0);
            assert_eq!(cuMemcpyDtoHAsync_v2(pinned, address, 8, stream), 0);
        });
        assert_eq!(cuGraphLaunch(executable, 0), 0);
        // SAFETY: pinned memory of eight bytes.
        assert_eq!(unsafe { *(pinned as *const [u8; 8]) }, [7; 8]);
        assert_eq!((gpu.log().copies_up.bytes, gpu.log().copies_down.bytes), (8, 8));
    }

    #[test]
    fn a_graph_whose_memory_was_freed_is_refused() {
        let gpu = Gpu::new();
        let (add, address) = (gpu.kernel(c"add"), gpu.allocate(64));
        let (_, executable) = capture(&gpu, |stream| assert_eq!(gpu.add(add, stream, [address, 0]), 0));
        assert_eq!((cuGraphLaunch(executable, 0), cuMemFree_v2(address)), (0, 0));
        assert_refused(cuGraphLaunch(executable, 0), Status::IllegalAddress, "was freed");
        assert_eq!(gpu.log().launches, 1);
    }

    #[test]
    fn a_launch_in_a_graph_can_be_the_one_that_fails() {
        let gpu = Gpu::with(Settings {
            fail_launch: Some(2),
            ..Settings::default()
        });
        let add = gpu.kernel(c"add");
        let (_, executable) = capture(&gpu, |stream| {
            assert_eq!((gpu.add(add, stream, [0; 2]), gpu.add(add, stream, [0; 2])), (0, 0));
        });
        assert_eq!(cuGraphLaunch(executable, 0), Status::IllegalAddress as CuResult);
        assert_eq!(gpu.log().launches, 1);
    }
}
