import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Peaks } from '../../data/peaks.ts'
import { clockTime } from '../../parts/formats.ts'
import styles from './axis.module.css'
import { coloursOf } from './colours.ts'
import { drawAxis, type Window } from './draw-axis.ts'
import type { Timeline } from './timeline.ts'

type AxisProps = {
  timeline: Timeline
  peaks: Peaks | null
  window: Window
  nowS: number
  turn: number | null
  seek: (seconds: number) => void
  zoom: (by: number) => void
}

/** Draws the axis in one canvas, because a long call has thousands of bars. A screen reader gets a slider. */
export function Axis({ timeline, peaks, window, nowS, turn, seek, zoom }: AxisProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(canvas)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !canvas.current || size.width === 0) return
    const ratio = devicePixelRatio
    canvas.current.width = size.width * ratio
    canvas.current.height = size.height * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    drawAxis({ context, ...size }, { timeline, peaks, window, nowS, turn, colours: coloursOf(canvas.current) })
  }, [timeline, peaks, window.fromS, window.toS, nowS, turn, size])
  useZoomWheel(canvas, zoom)
  const point = ({ currentTarget, clientX, buttons }: PointerEvent<HTMLCanvasElement>) => {
    if (buttons !== 1) return
    const { left, width } = currentTarget.getBoundingClientRect()
    seek(window.fromS + ((clientX - left) / width) * (window.toS - window.fromS))
  }
  return (
    <canvas
      ref={canvas}
      className={styles.axis}
      tabIndex={0}
      role="slider"
      aria-label="Position in the call"
      aria-valuemin={0}
      aria-valuemax={Math.round(timeline.lengthS)}
      aria-valuenow={Math.round(nowS)}
      aria-valuetext={clockTime(nowS)}
      onPointerDown={point}
      onPointerMove={point}
      onKeyDown={(event) => jump(event, timeline.lengthS, seek)}
    />
  )
}

/** Home and End are handled here. The arrow keys are shortcuts of the whole page. */
function jump(event: KeyboardEvent, lengthS: number, seek: (seconds: number) => void): void {
  if (event.key !== 'Home' && event.key !== 'End') return
  event.preventDefault()
  seek(event.key === 'Home' ? 0 : lengthS)
}

function useSize(ref: React.RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    if (!ref.current) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height })
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [ref])
  return size
}

/** Zooms only with the control key, so the page can be scrolled over the player. */
function useZoomWheel(ref: React.RefObject<HTMLElement | null>, zoom: (by: number) => void): void {
  useEffect(() => {
    const element = ref.current
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoom(event.deltaY < 0 ? 1.25 : 0.8)
    }
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [ref, zoom])
}
