/**
 * Hides numbers, words and arguments on all pages, for screenshots and shared screens. The switch is never part of a
 * URL, so a person who opens a link sees everything.
 */
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'

type Redaction = { isOn: boolean; toggle: () => void }

const RedactionContext = createContext<Redaction>({ isOn: false, toggle: () => undefined })

export function RedactionProvider({ children }: { children: ReactNode }) {
  const [isOn, setOn] = useState(false)
  const value = useMemo(() => ({ isOn, toggle: () => setOn((was) => !was) }), [isOn])
  return <RedactionContext value={value}>{children}</RedactionContext>
}

export const useRedaction = () => useContext(RedactionContext)

/** Returns the function that hides a private text. Texts keep their length, so the page keeps its layout. */
export function useMask(): (text: string) => string {
  const { isOn } = useRedaction()
  return isOn ? mask : same
}

export function Private({ children }: { children: string }) {
  return useMask()(children)
}

const mask = (text: string) => text.replaceAll(/[\p{L}\p{N}]/gu, '•')
const same = (text: string) => text
