/**
 * Runs a page's actions on keys. A key is one character, a named key of the browser, or two characters after each
 * other ("g c"). Keys are silent in fields and in dialogs, and can be switched off (WCAG 2.1.4). The effects here are
 * layout effects, so a page's keys work as soon as the page is shown.
 */
import { createContext, type ReactNode, useContext, useLayoutEffect, useMemo, useState } from 'react'
import { KeyMap, type Shortcut } from './key-map.ts'

type Shortcuts = { keyMap: KeyMap; isOn: boolean; setOn: (isOn: boolean) => void }

const storageKey = 'parley.shortcuts'
const ShortcutContext = createContext<Shortcuts>({ keyMap: new KeyMap(), isOn: true, setOn: () => undefined })

export function ShortcutProvider({ children }: { children: ReactNode }) {
  const [keyMap] = useState(() => new KeyMap())
  const [isOn, setOn] = useState(() => localStorage.getItem(storageKey) !== 'off')
  useLayoutEffect(() => {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off')
    if (!isOn) return
    const listen = (event: KeyboardEvent) => keyMap.press(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [keyMap, isOn])
  const value = useMemo(() => ({ keyMap, isOn, setOn }), [keyMap, isOn])
  return <ShortcutContext value={value}>{children}</ShortcutContext>
}

export const useShortcutSettings = () => useContext(ShortcutContext)

/** Adds a page's keys while the page is shown. The newest page wins if two have the same key. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { keyMap } = useContext(ShortcutContext)
  useLayoutEffect(() => keyMap.add(shortcuts), [keyMap, shortcuts])
}
