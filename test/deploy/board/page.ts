/** The dashboard's panels as one SVG page. This code draws the query results, not Grafana. */

import type { Series } from './prometheus-server.ts'
import type { Panel } from './queries.ts'

export type Line = { name: string; points: Series['points'] }
export type Drawn = { panel: Panel; lines: Line[] }

const colours = [
  '#7eb26d',
  '#eab839',
  '#6ed0e0',
  '#ef843c',
  '#e24d42',
  '#1f78c1',
  '#ba43a9',
  '#b7a6ff',
  '#9ac48a',
  '#c15c17',
]
const cell = { width: 66, height: 32 }
const gap = 8
const legendsMax = 6

/** Returns the page size in which all panels fit. */
export function pageSizeOf(drawn: readonly Drawn[]): { width: number; height: number } {
  const cellsHigh = Math.max(...drawn.map(({ panel: { place } }) => place.y + place.h))
  return { width: 24 * cell.width + gap, height: cellsHigh * cell.height + 40 }
}

export function drawPage(drawn: readonly Drawn[], fromS: number, toS: number, note: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Parley</title><style>${style}</style>
<h1>Parley</h1><p>${note}</p>
${drawn.map((each) => drawPanel(each, fromS, toS)).join('\n')}`
}

function drawPanel({ panel, lines }: Drawn, fromS: number, toS: number): string {
  const { x, y, w, h } = panel.place
  const size = { width: w * cell.width - gap, height: h * cell.height - gap }
  const place = `left:${x * cell.width + gap}px;top:${y * cell.height + 36}px;width:${size.width}px;height:${size.height}px`
  if (panel.kind === 'row') return `<h2 style="${place}">${escape(panel.title)}</h2>`
  const content = panel.kind === 'stat' ? stat(panel, lines) : graph(panel, lines, fromS, toS, size)
  return `<section style="${place}"><h3>${escape(panel.title)}</h3>${content}</section>`
}

function stat(panel: Panel, lines: readonly Line[]): string {
  const [line] = lines
  if (line === undefined) return '<div class="stat">No data</div>'
  const last = line.points.at(-1)?.value ?? Number.NaN
  return `<div class="stat">${panel.showsName ? escape(line.name) : format(last, panel.unit)}</div>`
}

function graph(
  panel: Panel,
  lines: readonly Line[],
  fromS: number,
  toS: number,
  { width, height }: { width: number; height: number },
): string {
  if (lines.length === 0) return '<div class="none">No data</div>'
  const area = { left: 56, top: 8, right: width - 12, bottom: height - 74 }
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value)).filter(Number.isFinite)
  const scale = panel.unit === 'bytes' ? 1_048_576 : 1
  const most = niceMost(Math.max(0, ...values) / scale) * scale
  const atX = (atS: number) => area.left + ((atS - fromS) / (toS - fromS)) * (area.right - area.left)
  const atY = (value: number) => area.bottom - (value / most) * (area.bottom - area.top)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = atY(part * most)
    const label = `<text x="${area.left - 6}" y="${y + 4}" text-anchor="end">${format(part * most, panel.unit)}</text>`
    return `<path class="grid" d="M${area.left} ${y}H${area.right}"/>${label}`
  })
  const times = [0, 0.5, 1].map((part) => {
    const atS = fromS + part * (toS - fromS)
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle'
    return `<text x="${atX(atS)}" y="${area.bottom + 14}" text-anchor="${anchor}">${clockTime(atS)}</text>`
  })
  const paths = lines.map((line, i) => {
    const points = line.points.filter(({ value }) => Number.isFinite(value))
    const steps = points.map(
      ({ atS, value }, n) => `${n === 0 ? 'M' : 'L'}${atX(atS).toFixed(1)} ${atY(value).toFixed(1)}`,
    )
    return `<path class="line" stroke="${colourOf(i)}" d="${steps.join('')}"/>`
  })
  const drawing = [...grid, ...times, ...paths].join('')
  return `<svg width="${width}" height="${area.bottom + 20}">${drawing}</svg>${legend(lines)}`
}

function legend(lines: readonly Line[]): string {
  const shown = lines.slice(0, legendsMax)
  const items = shown.map(({ name }, i) => `<li><i style="background:${colourOf(i)}"></i>${escape(name)}</li>`)
  const more = lines.length > shown.length ? [`<li>and ${lines.length - shown.length} more</li>`] : []
  return `<ul>${[...items, ...more].join('')}</ul>`
}

function colourOf(i: number): string {
  return colours[i % colours.length] as string
}

/** Returns the upper end of an axis: the smallest number, from `value` on, that is 1, 2 or 5 times a power of ten. */
function niceMost(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10)
}

function format(value: number, unit: string): string {
  if (!Number.isFinite(value)) return 'No data'
  if (unit === 'percentunit') return `${trim(value * 100)} %`
  if (unit === 'bytes') return `${trim(value / 1_048_576)} MiB`
  if (unit === 's') return value < 1 ? `${trim(value * 1000)} ms` : `${trim(value)} s`
  if (unit === 'currencyUSD') return `$${trim(value)}`
  return unit === 'reqps' ? `${trim(value)}/s` : trim(value)
}

function trim(value: number): string {
  return Number(value.toPrecision(3)).toString()
}

function clockTime(atS: number): string {
  return new Date(atS * 1000).toISOString().slice(11, 19)
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

const style = `body { background: #111217; color: #ccccdc; font: 12px sans-serif; margin: 0 }
h1 { font-size: 18px; margin: 8px; display: inline-block } p { display: inline-block; margin: 0 }
h2, section { position: absolute; box-sizing: border-box } h2 { font-size: 14px; margin: 4px 0 }
section { background: #181b1f; border: 1px solid #2c3235 } h3 { font-size: 13px; margin: 4px 8px; font-weight: 500 }
.stat { font-size: 26px; text-align: center; padding-top: 14px; color: #7eb26d } .none { text-align: center; padding-top: 60px }
text { fill: #9a9fa8; font-size: 11px } .grid { stroke: #2c3235 } .line { fill: none; stroke-width: 1.5 }
ul { list-style: none; margin: 0 8px; padding: 0; max-height: 46px; overflow: hidden } li { display: inline-block; margin-right: 10px }
i { display: inline-block; width: 12px; height: 3px; margin-right: 4px; vertical-align: middle }`
