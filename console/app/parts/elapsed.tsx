import { useEffect, useState } from 'react'
import { clockTime } from './formats.ts'

/** The time since a moment, which goes on. */
export function Elapsed({ since }: { since: string }) {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return clockTime((nowMs - Date.parse(since)) / 1000)
}
