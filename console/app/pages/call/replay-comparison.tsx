import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useEffect, useMemo, useState } from 'react'
import type { Call, CallRequestList, CallTurn } from '../../../../generated/clients/typescript/models/platform.ts'
import { callRequestsQuery } from '../../data/calls.ts'
import { outcomeQuery, type Replayed, readRecording } from '../../data/replay.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { milliseconds, money } from '../../parts/formats.ts'
import { Faint } from '../../parts/layout.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Private, useMask } from '../../parts/redaction.tsx'
import { wordDiff } from '../../parts/word-diff.ts'
import styles from './replay.module.css'
import type { Stage } from './replay-address.ts'
import { nameOf } from './replay-choices.tsx'
import { spanOf, whyNoRecordedAudio } from './replay-exchange.ts'
import type { Replay } from './use-replays.ts'

type ComparisonProps = { call: Call; turn: CallTurn; stage: Stage; replays: readonly Replay[]; canHear: boolean }

/** Shows the answer of the call, and beside it the answer of each model. */
export function Comparison({ call, turn, stage, replays, canHear }: ComparisonProps) {
  return (
    <>
      <div className={styles.columns}>
        <Original call={call} turn={turn} stage={stage} canHear={canHear} />
        {replays.map((replay) => (
          <Column key={nameOf(replay.choice)} title={nameOf(replay.choice)}>
            {replay.state === 'running' && <p role="status">Waiting for the answer…</p>}
            {replay.state === 'failed' && <ActionFault error={replay.error} />}
            {replay.state === 'done' && <Result turn={turn} stage={stage} replayed={replay.replayed} />}
          </Column>
        ))}
      </div>
      <p>
        <Faint>{notes[stage]}</Faint>
      </p>
    </>
  )
}

const notes: Record<Stage, string> = {
  stt: 'A call is transcribed while the caller speaks. A replay sends the audio of the turn as one recording, so its time is not the time of a call.',
  llm: 'A replay sends the prompt and the turns before the answer, without the tools of the agent.',
  tts: 'A replay speaks all words of the answer. In the call, speech begins after the first sentence.',
}

function Column({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.column} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Original({ call, turn, stage, canHear }: Omit<ComparisonProps, 'replays'>) {
  const { data } = useQuery(callRequestsQuery(call.id))
  const cost = data ? costOf(data, turn, stage) : null
  return (
    <Column title="In the call">
      <Facts
        rows={[
          ['Answered by', madeBy(turn, stage)],
          [firsts[stage], firstOf(turn, stage)],
          ['Cost', cost === null ? null : money(cost)],
        ]}
      />
      <p className={styles.words}>
        <Private>{turn.text}</Private>
      </p>
      {stage === 'tts' && canHear && <Recorded call={call} turn={turn} />}
    </Column>
  )
}

const firsts: Record<Stage, string> = { stt: 'Time', llm: 'First token', tts: 'First audio' }

function firstOf(turn: CallTurn, stage: Stage): string | null {
  const ms = { stt: null, llm: turn.llm_ttft_ms, tts: turn.tts_ttfb_ms }[stage]
  return ms === null ? null : milliseconds(ms)
}

function madeBy({ provider, model, metadata }: CallTurn, stage: Stage): string | null {
  if (stage !== 'tts') return provider === null ? null : `${provider}:${model ?? ''}`
  const { ttsProvider, ttsModel, voice } = metadata
  if (typeof ttsProvider !== 'string') return null
  const name = `${ttsProvider}:${typeof ttsModel === 'string' ? ttsModel : ''}`
  return typeof voice === 'string' ? `${name}, ${voice}` : name
}

/** Sums what the stage's requests cost in the turn. Speech to text serves several turns, so its cost is not known. */
function costOf({ requests, complete }: CallRequestList, { index }: CallTurn, stage: Stage): string | null {
  const costs = requests
    .filter((each) => each.stage === stage && each.turn_index === index)
    .map((each) => each.cost_micro_usd)
  if (!complete || costs.length === 0 || costs.includes(null)) return null
  return String(costs.reduce((sum, each) => sum + BigInt(each ?? 0), 0n))
}

/** Reads the agent's voice from the recording when the person wants to hear it. */
function Recorded({ call, turn }: { call: Call; turn: CallTurn }) {
  const why = whyNoRecordedAudio(call, turn)
  const [isWanted, setWanted] = useState(false)
  const { data, error } = useQuery({
    queryKey: ['calls', call.id, 'recorded', turn.index],
    queryFn: ({ signal }) => readRecording(call.id, 'agent', spanOf(call, turn), signal),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (why !== null) return <Faint>{why}</Faint>
  if (data) return <Sound label="The voice in the call" blob={data} />
  return (
    <>
      <ActionFault error={error} />
      <Button disabled={isWanted && !error} onClick={() => setWanted(true)}>
        Load the voice of the call
      </Button>
    </>
  )
}

function Result({ turn, stage, replayed }: { turn: CallTurn; stage: Stage; replayed: Replayed }) {
  const { text, audio, firstMs, wholeMs, requestId } = replayed
  const { data: outcome } = useQuery(outcomeQuery(requestId))
  const diff = useMemo(() => wordDiff(turn.text, text), [turn.text, text])
  const answered = outcome?.attempts.find((attempt) => attempt.outcome === 'succeeded')
  return (
    <>
      <Facts
        rows={[
          ['Answered by', answered === undefined ? null : `${answered.provider}:${answered.model}`],
          [firsts[stage], firstMs === null ? null : milliseconds(firstMs)],
          [stage === 'stt' ? 'Time' : 'Whole answer', milliseconds(wholeMs)],
          ['Cost', outcome ? (outcome.cost_micro_usd === null ? 'unknown' : money(outcome.cost_micro_usd)) : null],
          ['Differ', stage === 'stt' ? `${diff.errors} of ${diff.count} words` : null],
        ]}
      />
      {stage !== 'tts' && <Words diff={diff} isSpeech={stage === 'stt'} />}
      {audio && <Sound label="The new voice" blob={audio} />}
    </>
  )
}

/** Marks the different words. For the same speech, it also shows the call's words without a counterpart. */
function Words({ diff, isSpeech }: { diff: ReturnType<typeof wordDiff>; isSpeech: boolean }) {
  const mask = useMask()
  const shown = diff.parts.filter(({ kind }) => isSpeech || kind !== 'removed')
  if (shown.length === 0) return <Faint>no words</Faint>
  return (
    <p className={styles.words}>
      {shown.map(({ kind, text }, at) => {
        const Mark = marks[kind]
        // Words never move, so their positions can be React keys.
        return (
          <Fragment key={at}>
            {at > 0 && ' '}
            <Mark>{mask(text)}</Mark>
          </Fragment>
        )
      })}
    </p>
  )
}

const marks = { same: 'span', added: 'ins', removed: 'del' } as const

function Sound({ label, blob }: { label: string; blob: Blob }) {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return address === null ? null : <audio controls src={address} aria-label={label} className={styles.sound} />
}
