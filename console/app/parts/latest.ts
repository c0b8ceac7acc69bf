import { type RefObject, useRef } from 'react'

/** Keeps the latest value for functions that must not change when the value does. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value)
  latest.current = value
  return latest
}
