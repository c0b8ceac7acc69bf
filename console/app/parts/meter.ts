import { type RefObject, useCallback, useRef } from 'react'

export type Meter = RefObject<HTMLMeterElement | null>

/** The meter moves in steps, because the browser paints each change. */
const meterSteps = 20

/** Returns the ref of a `<meter>` from 0 to 1, and a function that shows a loudness in the meter. */
export function useMeter(): { meter: Meter; show: (level: number) => void } {
  const meter = useRef<HTMLMeterElement>(null)
  // The loudness changes fifty times a second. So the meter gets it directly, because React would draw all of it anew.
  const show = useCallback((level: number) => {
    if (meter.current) meter.current.value = Math.round(level * meterSteps) / meterSteps
  }, [])
  return { meter, show }
}
