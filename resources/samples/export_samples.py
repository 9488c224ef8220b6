#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the bundled sample models: NAME.pt2 (torch.export), NAME.pt (TorchScript) and NAME.io.pt (inputs and PyTorch's
own output). Run it in an environment that has PyTorch 2.6 or newer:

    python3 -m venv /tmp/export && /tmp/export/bin/pip install torch numpy
    /tmp/export/bin/python resources/samples/export_samples.py resources/samples

The weights are drawn from a fixed seed; the models are too small to be useful and just large enough to show what a
kernel does to them."""
import argparse
import math
import pathlib

import torch
from torch import nn


class HandWrittenRMSNorm(nn.Module):
    """x / sqrt(mean(x²) + ε) · weight, operator by operator as model code in the wild writes it."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class RotaryAttention(nn.Module):
    """Causal attention with rotary positions and grouped key/value heads, softmax written out."""

    def __init__(self, width, heads, groups, length):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.size, bias=False)
        self.value = nn.Linear(width, groups * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        frequencies = 10000.0 ** (-torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(length).float(), frequencies).repeat(1, 2)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())
        self.register_buffer("mask", torch.full((length, length), -1e9).triu(1))

    def forward(self, x):
        batch, length, width = x.shape
        query = self.query(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        key = self.key(x).view(batch, length, self.groups, self.size).transpose(1, 2)
        value = self.value(x).view(batch, length, self.groups, self.size).transpose(1, 2)
        query = query * self.cosine + rotate_half(query) * self.sine
        key = key * self.cosine + rotate_half(key) * self.sine
        key = key.repeat_interleave(self.heads // self.groups, dim=1)
        value = value.repeat_interleave(self.heads // self.groups, dim=1)
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.size) + self.mask
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class GatedMLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class LlamaBlock(nn.Module):
    def __init__(self, width=64, heads=4, groups=2, hidden=160, length=32):
        super().__init__()
        self.attention_norm = HandWrittenRMSNorm(width)
        self.attention = RotaryAttention(width, heads, groups, length)
        self.mlp_norm = HandWrittenRMSNorm(width)
        self.mlp = GatedMLP(width, hidden)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class GPTBlock(nn.Module):
    """Layer normalisation, attention and the tanh form of GELU written as a formula."""

    def __init__(self, width=64, heads=4, length=32):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.full((length, length), -1e9).triu(1))

    def attend(self, x):
        batch, length, width = x.shape
        query, key, value = self.qkv(x).view(batch, length, 3, self.heads, self.size).permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) * (1 / math.sqrt(self.size)) + self.mask
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def gelu(self, x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))

    def forward(self, x):
        x = x + self.attend(self.attention_norm(x))
        return x + self.down(self.gelu(self.up(self.mlp_norm(x))))


class InventedBlock(nn.Module):
    """An activation and a normalisation that no library has a kernel for: the case that lists of known kernels miss."""

    def __init__(self, width=96, hidden=256):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.slope = nn.Parameter(torch.tensor(0.3))
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def wave(self, x):
        return x * torch.tanh(nn.functional.softplus(x)) + self.slope * torch.sin(x).pow(2) * torch.sigmoid(x)

    def peak_norm(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.abs().amax(-1, keepdim=True) + 1e-5) * self.scale

    def forward(self, x):
        return self.peak_norm(x + self.down(self.wave(self.up(x))))


class RowSoftmax(nn.Module):
    """One operator of any size: give the sizes with --input."""

    def forward(self, x):
        return torch.softmax(x, dim=-1)


def write(folder, name, model, inputs, dynamic_shapes=None):
    model = model.eval()
    with torch.no_grad():
        reference = model(*inputs)
        torch.export.save(torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes), folder / f"{name}.pt2")
        torch.jit.save(torch.jit.trace(model, inputs), folder / f"{name}.pt")
    torch.save({"args": inputs, "ref": reference}, folder / f"{name}.io.pt")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{name}: {parameters} parameters, output {tuple(reference.shape)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    torch.manual_seed(20)
    write(folder, "llama_block", LlamaBlock(), (torch.randn(2, 32, 64),))
    write(folder, "gpt_block", GPTBlock(), (torch.randn(2, 32, 64),))
    write(folder, "invented_block", InventedBlock(), (torch.randn(48, 96),))
    rows, columns = torch.export.Dim("rows", min=1), torch.export.Dim("columns", min=1)
    write(folder, "row_softmax_half", RowSoftmax(), (torch.randn(16, 128).half(),), ({0: rows, 1: columns},))


if __name__ == "__main__":
    main()
