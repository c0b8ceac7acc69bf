/**
 * Hides numbers, words and arguments on all pages while it is on, for screenshots and shared screens. The setting is
 * never part of a URL, so a link does not switch it on or off for its reader.
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

/** Returns the function that hides a private text. Lengths stay, so the page keeps its form. */
export function useMask(): (text: string) => string {
  const { isOn } = useRedaction()
  return isOn ? mask : same
}

export function Private({ children }: { children: string }) {
  return useMask()(children)
}

const mask = (text: string) => text.replaceAll(/[\p{L}\p{N}]/gu, '•')
const same = (text: string) => text
