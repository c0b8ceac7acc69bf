/**
 * Reads and writes the query in the URL of a replay: the turn, the stage, and the models to compare. If the query has
 * the stage, the page of the call shows the replay.
 */
import { useMemo } from 'react'
import type { Choice } from '../../data/replay.ts'
import { pick } from '../../data/search.ts'
import { useFilterChange, useSearchValues } from '../../parts/address.ts'

export const stages = ['stt', 'llm', 'tts'] as const
export type Stage = (typeof stages)[number]

/** Each model costs one request, and more columns do not fit beside each other. */
export const choicesMax = 4

type ReplayAddress = { turn: number; stage: Stage; choices: readonly Choice[] }

function readReplayAddress(search: Readonly<Record<string, unknown>>): ReplayAddress {
  const { turn, replay, with: list = '' } = pick(search, ['turn', 'replay', 'with'])
  const choices = list.split(',').flatMap(readChoice)
  const isNew = ({ pin, voice }: Choice, at: number) =>
    choices.findIndex((each) => each.pin === pin && each.voice === voice) === at
  return {
    turn: /^\d{1,9}$/.test(turn ?? '') ? Number(turn) : 0,
    stage: stages.find((each) => each === replay) ?? 'stt',
    choices: choices.filter(isNew).slice(0, choicesMax),
  }
}

/** Returns the query and a function to change it. */
export function useReplayAddress(): [ReplayAddress, (change: Partial<ReplayAddress>) => void] {
  const search = useSearchValues()
  const address = useMemo(() => readReplayAddress(search), [search])
  const write = useFilterChange<Record<string, string>>({})
  return [address, (change) => write(replaySearch({ ...address, ...change }))]
}

export const replaySearch = ({ turn, stage, choices }: ReplayAddress): Record<string, string> => ({
  turn: String(turn),
  replay: stage,
  ...(choices.length > 0 && { with: choices.map(writeChoice).join(',') }),
})

/** A choice is a model such as `local/flite`, and for text to speech also a voice: `local/flite;rms`. */
const writeChoice = ({ pin, voice }: Choice) => (voice === null ? pin : `${pin};${encodeURIComponent(voice)}`)

function readChoice(text: string): Choice[] {
  const [pin = '', voice] = text.split(';')
  if (!/^[^/]+\/.+$/.test(pin)) return []
  return [{ pin, voice: voice === undefined ? null : decoded(voice) }]
}

/** A URL that a person wrote can have an escape that is not valid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
