/** Plays the recording. If the call has no recording, only clicks move the position. */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'

export type Player = {
  audio: RefObject<HTMLAudioElement | null>
  /** The position in seconds. It changes with each frame while the sound plays. */
  nowS: number
  isPlaying: boolean
  speed: number
  seek: (seconds: number) => void
  toggle: () => void
  setSpeed: (speed: number) => void
  /** Loads a recording that could not be loaded, and stays at the position. */
  reload: () => void
}

export const speeds = [0.5, 0.75, 1, 1.25, 1.5, 2] as const

export function usePlayer(startS: number): Player {
  const audio = useRef<HTMLAudioElement>(null)
  const [nowS, setNow] = useState(startS)
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(1)
  useFrames(isPlaying, () => audio.current && setNow(audio.current.currentTime))
  useEffect(() => {
    const element = audio.current
    if (!element) return
    element.currentTime = startS
    const watch = () => setPlaying(!element.paused)
    const events = ['play', 'pause', 'ended'] as const
    for (const event of events) element.addEventListener(event, watch)
    return () => {
      for (const event of events) element.removeEventListener(event, watch)
    }
    // The URL gives the start position once. Later the player moves by itself.
  }, [])
  useEffect(() => {
    if (audio.current) audio.current.playbackRate = speed
  }, [speed])
  const seek = useCallback((seconds: number) => {
    const wanted = Math.max(0, seconds)
    if (audio.current) audio.current.currentTime = wanted
    setNow(wanted)
  }, [])
  const toggle = useCallback(() => {
    const element = audio.current
    if (element?.paused) void element.play().catch(() => setPlaying(false))
    else element?.pause()
  }, [])
  const reload = useCallback(() => {
    audio.current?.load()
    seek(nowS)
  }, [seek, nowS])
  return useMemo(
    () => ({ audio, nowS, isPlaying, speed, seek, toggle, setSpeed, reload }),
    [nowS, isPlaying, speed, seek, toggle, reload],
  )
}

/** Calls `run` before the browser draws each frame. */
function useFrames(isOn: boolean, run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (!isOn) return
    let frame = requestAnimationFrame(function next() {
      latest.current()
      frame = requestAnimationFrame(next)
    })
    return () => cancelAnimationFrame(frame)
  }, [isOn])
}
