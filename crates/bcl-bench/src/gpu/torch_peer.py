"""Times in PyTorch what `bcl-bench gpu` times in this program: InfoNCE forward and backward, and SimCLR steps of ResNets.

usage: python3 torch_peer.py loss --batch 256 1024 --dim 128
       python3 torch_peer.py step --depth 18 --precision bf16 --batch 256 --side 32

Prints one line of JSON per batch size.
"""

import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda"
HALVES = {"bf16": torch.bfloat16, "f16": torch.float16}
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
STAGE_WIDTHS = (64, 128, 256, 512)
TEMPERATURE = 0.5


def info_nce(first, second):
    """The mean loss of both batches of unit vectors; the other vectors of both are negatives."""
    batch = len(first)
    vectors = torch.cat([first, second])
    scores = vectors @ vectors.T / TEMPERATURE
    scores.fill_diagonal_(float("-inf"))
    positives = (torch.arange(2 * batch, device=scores.device) + batch) % (2 * batch)
    return F.cross_entropy(scores, positives)


def convolution(inputs, outputs, size, stride):
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)


class Block(nn.Module):
    """A residual block of convolutions, given as (inputs, outputs, kernel size, stride)."""

    def __init__(self, *convolutions):
        super().__init__()
        layers = []
        for sizes in convolutions:
            layers += [convolution(*sizes), nn.BatchNorm2d(sizes[1]), nn.ReLU(inplace=True)]
        self.body = nn.Sequential(*layers[:-1])
        inputs, outputs = convolutions[0][0], convolutions[-1][1]
        stride = max(sizes[3] for sizes in convolutions)
        self.shortcut = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.shortcut = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, images):
        return F.relu(self.body(images) + self.shortcut(images))


def resnet(depth):
    """A ResNet with the CIFAR stem and the projection head of SimCLR."""
    layers = [convolution(3, 64, 3, 1), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    channels = 64
    for stage, (width, blocks) in enumerate(zip(STAGE_WIDTHS, BLOCKS[depth])):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            if depth < 50:
                layers.append(Block((channels, width, 3, stride), (width, width, 3, 1)))
                channels = width
            else:
                layers.append(Block((channels, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1)))
                channels = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    layers += [nn.Linear(channels, 512, bias=False), nn.BatchNorm1d(512), nn.ReLU(inplace=True), nn.Linear(512, 128)]
    return nn.Sequential(*layers)


def loss_step(arguments, batch):
    """A function that computes InfoNCE and its gradients."""
    views = [F.normalize(torch.randn(batch, arguments.dim, device=DEVICE), dim=1).requires_grad_() for _ in range(2)]

    def step():
        for view in views:
            view.grad = None
        info_nce(*views).backward()

    return step


def training_step(arguments, batch):
    """A function that trains an image encoder for one step."""
    half = HALVES.get(arguments.precision)
    layout = torch.channels_last if half else torch.contiguous_format
    encoder = resnet(arguments.depth).to(DEVICE, memory_format=layout).train()
    shape = (2 * batch, 3, arguments.side, arguments.side)
    images = torch.randn(shape, device=DEVICE).to(memory_format=layout)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)

    def step():
        with torch.autocast(DEVICE, dtype=half, enabled=half is not None):
            projections = encoder(images)
        loss = info_nce(*F.normalize(projections.float(), dim=1).chunk(2))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def seconds(step):
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def measure(make_step, arguments, batch):
    """Time and memory of a step, or why there are none."""
    try:
        step = make_step(arguments, batch)
        first = seconds(step)
        seconds(step)
        torch.cuda.reset_peak_memory_stats()
        times = []
        while len(times) < 5 or (sum(times) < 1 and len(times) < 100):
            times.append(seconds(step))
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return {"batch_size": batch, "note": "out of memory"}
    return {
        "batch_size": batch,
        "median_ms": 1e3 * statistics.median(times),
        "first_seconds": first,
        "peak_mib": torch.cuda.max_memory_allocated() / 2**20,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["loss", "step"])
    parser.add_argument("--batch", type=int, nargs="+", required=True)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--depth", type=int, choices=BLOCKS, default=18)
    parser.add_argument("--precision", choices=["f32", "tf32", *HALVES], default="f32")
    parser.add_argument("--side", type=int, default=32)
    arguments = parser.parse_args()
    # As ours: with tf32, convolutions alone round their inputs.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = arguments.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    make_step = loss_step if arguments.what == "loss" else training_step
    for batch in arguments.batch:
        print(json.dumps(measure(make_step, arguments, batch)), flush=True)


if __name__ == "__main__":
    main()
