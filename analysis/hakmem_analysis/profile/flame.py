"""A flame graph as one SVG file that needs nothing else: hover for a name, click to zoom, type to
search. Widths are samples; order from left to right is by name, not by time."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from .kinds import Kind, kind_of, short_name
from .samples import UNKNOWN, Frame, Recordings

WIDTH, ROW, TOP, BOTTOM = 1200, 17, 60, 24
LEAST_PX = 0.25  # narrower frames are not drawn
COLOURS = {
    Kind.FAST: "#e8743b",
    Kind.SLOW: "#f2b134",
    Kind.WORKLOAD: "#5b8ff9",
    Kind.KERNEL: "#9b8ec4",
    Kind.OTHER: "#b9c0c9",
}

STYLE = (
    "text{font:12px sans-serif;pointer-events:none}#hint,#found{fill:#555}"
    "g.f rect{stroke:#fff;stroke-width:.5;cursor:pointer}g.f:hover rect{stroke:#000}"
    "g.f.hit rect{fill:#d81b60}"
)
SCRIPT = """
const all=[...document.querySelectorAll('g.f')].map(g=>({g,r:g.querySelector('rect'),
t:g.querySelector('text'),x:+g.dataset.x,w:+g.dataset.w,d:+g.dataset.d,n:g.dataset.n}));
function fit(f,w){const k=Math.floor((w-6)/6.6);
f.t.textContent=k<3?'':f.n.length>k?f.n.slice(0,k-1)+'…':f.n}
function zoom(x,w,d){const s=WIDTH/w;for(const f of all){
const above=f.d<d&&f.x<=x+1e-6&&f.x+f.w>=x+w-1e-6;
const inside=f.d>=d&&f.x>=x-1e-6&&f.x+f.w<=x+w+1e-6;
f.g.style.display=above||inside?'':'none';if(!above&&!inside)continue;
const left=above?0:(f.x-x)*s,wide=above?WIDTH:f.w*s;
f.r.setAttribute('x',left);f.r.setAttribute('width',wide);f.t.setAttribute('x',left+3);
fit(f,wide)}}
for(const f of all)f.g.addEventListener('click',()=>zoom(f.x,f.w,f.d));
let word='';document.addEventListener('keydown',e=>{
if(e.key==='Escape'){word='';zoom(0,WIDTH,0)}else if(e.key==='Backspace')word=word.slice(0,-1);
else if(e.key.length===1&&!e.ctrlKey&&!e.metaKey)word+=e.key;else return;e.preventDefault();
let hit=0;for(const f of all){const is=word!==''&&f.n.toLowerCase().includes(word.toLowerCase());
f.g.classList.toggle('hit',is);hit+=is}
document.getElementById('found').textContent=word?'search: '+word+' ('+hit+')':''});
zoom(0,WIDTH,0);
"""


@dataclass
class Node:
    """A frame in its place: samples of the arm itself, and of the arm it is compared with."""

    count: int = 0
    other: int = 0
    children: dict[Frame, Node] = field(default_factory=dict)


def tree_of(found: Recordings, other: Recordings | None = None) -> Node:
    """The stacks as a tree. `other` adds the counts of another arm to the same places."""
    root = Node()
    for source, is_other in ((found, False), (other, True)):
        for stack, counts in source.stacks.items() if source else ():
            number = sum(counts)
            node = root
            _add(node, number, is_other)
            for frame in stack:
                node = node.children.setdefault(frame, Node())
                _add(node, number, is_other)
    return root


def _add(node: Node, number: int, is_other: bool) -> None:
    if is_other:
        node.other += number
    else:
        node.count += number


class _Drawing:
    def __init__(self, root: Node, allocator: str, program: str, is_diff: bool) -> None:
        self.root, self.allocator, self.program, self.is_diff = root, allocator, program, is_diff
        self.boxes: list[tuple[int, str]] = []
        self.depth = 0

    def draw(self, node: Node, left: float, depth: int) -> None:
        scale = WIDTH / max(self.root.count, 1)
        for frame, child in sorted(node.children.items()):
            width = child.count * scale
            if width >= LEAST_PX:
                self.depth = max(self.depth, depth + 1)
                self.boxes.append((depth, self.box(frame, child, left, width, depth)))
                self.draw(child, left, depth + 1)
            left += width

    def box(self, frame: Frame, node: Node, left: float, width: float, depth: int) -> str:
        name = short_name(label_of(frame), 200)
        share = 100.0 * node.count / max(self.root.count, 1)
        text = f"{name} ({frame.dso.rsplit('/', 1)[-1]}): {node.count} samples, {share:.2f} %"
        if self.is_diff:
            before = 100.0 * node.other / max(self.root.other, 1)
            text += f"; in the other arm {before:.2f} %"
            colour = _change_colour(share - before)
        else:
            colour = COLOURS[kind_of(frame, self.allocator, self.program)]
        return (
            f'<g class="f" data-x="{left:.3f}" data-w="{width:.3f}" data-d="{depth}" '
            f'data-n="{escape(name, quote=True)}"><title>{escape(text)}</title>'
            f'<rect x="{left:.3f}" y="@{depth}@" width="{width:.3f}" height="{ROW - 1}" '
            f'fill="{colour}"/><text x="{left + 3:.3f}" y="@{depth}t@"></text></g>'
        )


def _change_colour(change_pp: float) -> str:
    """Red for more, blue for less, paler for smaller; white for none."""
    strength = int(200 * min(1.0, abs(change_pp) / 10.0))
    pale = 235 - strength
    return f"rgb(255,{pale},{pale})" if change_pp > 0 else f"rgb({pale},{pale},255)"


def label_of(frame: Frame) -> str:
    """The symbol, or the file where it has none."""
    if frame.symbol != UNKNOWN:
        return frame.symbol
    return f"{frame.dso.rsplit('/', 1)[-1]} (no symbol)" if frame.dso != UNKNOWN else UNKNOWN


def flame_graph(
    title: str, found: Recordings, allocator: str, program: str, other: Recordings | None = None
) -> str:
    """The SVG. With `other` the colours show the change of each frame's share from `other`."""
    drawing = _Drawing(tree_of(found, other), allocator, program, other is not None)
    drawing.draw(drawing.root, 0.0, 0)
    height = TOP + BOTTOM + ROW * max(drawing.depth, 1)
    lines = []
    for depth, text in drawing.boxes:
        y = height - BOTTOM - (depth + 1) * ROW
        lines.append(text.replace(f"@{depth}@", str(y)).replace(f"@{depth}t@", str(y + 12)))
    legend = _diff_legend() if other is not None else _legend()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="10" y="20" style="font-size:15px">{escape(title)}</text>{legend}'
        f'<text id="hint" x="10" y="{height - 8}">click: zoom · Esc: whole · type: search</text>'
        f'<text id="found" x="{WIDTH - 300}" y="{height - 8}"></text>\n'
        + "\n".join(lines)
        + f"\n<script><![CDATA[const WIDTH={WIDTH};{SCRIPT}]]></script></svg>\n"
    )


def _legend() -> str:
    parts, left = [], 10
    for kind, colour in COLOURS.items():
        parts.append(f'<rect x="{left}" y="32" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 16}" y="42">{kind.value}</text>')
        left += 30 + 7 * len(kind.value)
    return "".join(parts)


def _diff_legend() -> str:
    text = "red: larger share than in the other arm · blue: smaller (full colour at 10 points)"
    return f'<text x="10" y="42">{text}</text>'
