/**
 * Draws a call's time axis: the caller above the agent, then the silences, the transfer legs and the player's position.
 * If the recording's peaks are loaded, caller and agent are drawn as waveforms. Otherwise each turn is a block.
 */
import type { Peaks } from '../../data/peaks.ts'
import { axisTime } from '../../parts/formats.ts'
import { type Timeline, voiceOf } from './timeline.ts'

export type Window = { fromS: number; toS: number }
export type Colours = Readonly<Record<string, string>>
type Canvas = { context: CanvasRenderingContext2D; width: number; height: number }
type Drawing = {
  timeline: Timeline
  peaks: Peaks | null
  window: Window
  nowS: number
  turn: number | null
  colours: Colours
}

const rulerHeight = 18
const silenceHeight = 6
const legHeight = 8

export function drawAxis(canvas: Canvas, drawing: Drawing): void {
  const { context, width, height } = canvas
  const { window, timeline, turn, colours } = drawing
  const at = (seconds: number) => ((seconds - window.fromS) / (window.toS - window.fromS)) * width
  context.clearRect(0, 0, width, height)
  const legsHeight = timeline.legs.length > 0 ? legHeight + 4 : 0
  const lanes = { top: 2, bottom: height - rulerHeight - silenceHeight - 6 - legsHeight }
  const selected = timeline.lines.find((line) => line.turn.index === turn)
  if (selected) {
    context.fillStyle = colours['selection'] ?? ''
    context.fillRect(
      at(selected.silence?.startS ?? selected.startS),
      0,
      at(selected.endS) - at(selected.silence?.startS ?? selected.startS),
      height - rulerHeight,
    )
  }
  if (drawing.peaks) drawPeaks(canvas, lanes, drawing.peaks, drawing)
  else drawSpeech(canvas, lanes, drawing, at)
  drawSilences(canvas, lanes.bottom + 3, drawing, at)
  drawLegs(canvas, lanes.bottom + silenceHeight + 6, drawing, at)
  drawRuler(canvas, drawing, at)
  drawPosition(canvas, at(drawing.nowS), colours)
}

const barStep = 3

type Lanes = { top: number; bottom: number }

function drawPeaks(
  { context, width }: Canvas,
  { top, bottom }: Lanes,
  peaks: Peaks,
  { timeline, window, nowS, colours }: Drawing,
): void {
  const half = (bottom - top) / 2
  // The agent's channel also has the colleagues' voices.
  const ofColleagues = timeline.lines.filter(({ turn }) => voiceOf(turn) === 'colleague')
  for (const [channel, side] of ['caller', 'agent'].entries()) {
    const middle = top + half * (channel + 0.5)
    for (let x = 0; x < width; x += barStep) {
      const fromS = window.fromS + (x / width) * (window.toS - window.fromS)
      const toS = window.fromS + ((x + barStep) / width) * (window.toS - window.fromS)
      const loudest = peaks.loudest(channel as 0 | 1, fromS, toS)
      const isColleague = channel === 1 && ofColleagues.some(({ startS, endS }) => startS < toS && endS > fromS)
      const name = isColleague ? 'colleague' : side
      const size = Math.max(0.5, loudest * (half / 2 - 1))
      context.fillStyle = (fromS <= nowS ? colours[name] : colours[`${name}-ahead`]) ?? ''
      context.fillRect(x, middle - size, barStep - 1, size * 2)
    }
  }
}

function drawSpeech(
  { context }: Canvas,
  { top, bottom }: Lanes,
  { timeline, nowS, colours }: Drawing,
  at: (s: number) => number,
): void {
  const half = (bottom - top) / 2
  for (const { turn, startS, endS } of timeline.lines) {
    const name = voiceOf(turn)
    const y = top + (name === 'caller' ? 0 : half) + half * 0.22
    context.fillStyle = (startS <= nowS ? colours[name] : colours[`${name}-ahead`]) ?? ''
    context.beginPath()
    context.roundRect(at(startS), y, Math.max(2, at(endS) - at(startS)), half * 0.56, 3)
    context.fill()
  }
}

/** Draws each silence as a bar, in the colours of the waterfall view. */
function drawSilences({ context }: Canvas, y: number, { timeline, colours }: Drawing, at: (s: number) => number): void {
  for (const { silence } of timeline.lines) {
    if (!silence) continue
    let reachedS = silence.startS
    for (const { kind, waitedMs } of silence.parts) {
      context.fillStyle = colours[kind] ?? colours['unattributed'] ?? ''
      context.fillRect(at(reachedS), y, at(reachedS + waitedMs / 1000) - at(reachedS), silenceHeight)
      reachedS += waitedMs / 1000
    }
  }
}

function drawLegs({ context }: Canvas, y: number, { timeline, colours }: Drawing, at: (s: number) => number): void {
  for (const { startS, endS } of timeline.legs) {
    context.fillStyle = colours['transfer'] ?? ''
    context.beginPath()
    context.roundRect(at(startS), y, Math.max(3, at(endS) - at(startS)), legHeight, 3)
    context.fill()
  }
}

const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800]
const labelWidth = 64

function drawRuler({ context, width, height }: Canvas, { window, colours }: Drawing, at: (s: number) => number): void {
  const spanS = window.toS - window.fromS
  const step = steps.find((each) => (each / spanS) * width >= labelWidth) ?? 3600
  context.fillStyle = colours['faint'] ?? ''
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'bottom'
  for (let seconds = Math.ceil(window.fromS / step) * step; seconds <= window.toS; seconds += step) {
    context.fillRect(at(seconds), height - rulerHeight, 1, 4)
    if (at(seconds) < width - 30) context.fillText(axisTime(seconds, step), at(seconds) + 3, height - 1)
  }
}

function drawPosition({ context, height }: Canvas, x: number, colours: Colours): void {
  context.fillStyle = colours['ink'] ?? ''
  context.fillRect(x - 0.75, 0, 1.5, height - rulerHeight + 4)
  context.beginPath()
  context.arc(x, 3, 3.5, 0, 2 * Math.PI)
  context.fill()
}
