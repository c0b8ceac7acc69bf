/** Finds the differences between two states: settings, or a tool's fields. */
import { isDeepStrictEqual } from 'node:util'
import type { AgentSettings } from '../records/agent.ts'
import type { Tool } from '../records/tool.ts'

/** Returns the names of the settings with different values, in alphabetical order. */
export function changedSettings(before: Partial<AgentSettings>, after: AgentSettings): string[] {
  const [old, now]: Record<string, unknown>[] = [before, after]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => !isDeepStrictEqual(old?.[name], now?.[name])).sort()
}

type Shown = Pick<Tool, 'description' | 'parameters' | 'source' | 'preToolSpeech'>

export function isToolChanged(before: Shown, after: Shown): boolean {
  return !isDeepStrictEqual(shownOf(before), shownOf(after))
}

const shownOf = ({ description, parameters, source, preToolSpeech }: Shown): Shown => ({
  description,
  parameters,
  source,
  preToolSpeech,
})
