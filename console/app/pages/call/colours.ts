/** Reads the style sheet's colours for the canvas, which cannot use CSS custom properties. */
import type { Colours } from './draw-axis.ts'

const steps = ['endpointing', 'stt', 'llm', 'tool', 'tts', 'playout', 'transfer'] as const
const expressions: Readonly<Record<string, string>> = {
  caller: 'var(--caller)',
  agent: 'var(--agent)',
  colleague: 'var(--colleague)',
  'caller-ahead': 'color-mix(in srgb, var(--caller) 42%, transparent)',
  'agent-ahead': 'color-mix(in srgb, var(--agent) 42%, transparent)',
  'colleague-ahead': 'color-mix(in srgb, var(--colleague) 42%, transparent)',
  ink: 'var(--ink)',
  faint: 'var(--faint)',
  selection: 'color-mix(in srgb, var(--accent) 12%, transparent)',
  unattributed: 'var(--line-strong)',
  ...Object.fromEntries(steps.map((step) => [step, `var(--step-${step})`])),
}

const cache = new Map<string, Colours>()
const darkQuery = window.matchMedia('(prefers-color-scheme: dark)')

export function coloursOf(element: HTMLElement): Colours {
  const scheme = document.documentElement.dataset['scheme'] ?? String(darkQuery.matches)
  const known = cache.get(scheme)
  if (known) return known
  const colours = Object.fromEntries(
    Object.entries(expressions).map(([name, expression]) => {
      element.style.color = expression
      return [name, getComputedStyle(element).color]
    }),
  )
  cache.set(scheme, colours)
  return colours
}
