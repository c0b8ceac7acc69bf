import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Call, CallTurn } from '../../../../generated/clients/typescript/models/platform.ts'
import { callQuery } from '../../data/calls.ts'
import { lowestRole, type Operation, useMay } from '../../data/may.ts'
import { answerAgain, readRecording, speakAgain, transcribeAgain } from '../../data/replay.ts'
import { usePathId } from '../../parts/address.ts'
import { CommandStrip } from '../../parts/command-strip.tsx'
import { Stack, Tabs } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { replaySearch, type Stage, stages, useReplayAddress } from './replay-address.ts'
import { Choices } from './replay-choices.tsx'
import { commandOf } from './replay-command.ts'
import { Comparison } from './replay-comparison.tsx'
import { type Exchange, exchangeOf, spanOf, turnOf, whyNot } from './replay-exchange.ts'
import { type Run, useReplays } from './use-replays.ts'

/** Sends the input of a turn to other models, and shows their answers beside the answer of the call. */
export function ReplayPage() {
  const id = usePathId()
  const [{ turn }] = useReplayAddress()
  const back = (
    <Link to="/calls/$id" params={{ id }} search={{ turn: String(turn) }}>
      {`Back to turn ${turn} of the call`}
    </Link>
  )
  return (
    <Page title="Replay" lead={back}>
      <Answer of={useQuery(callQuery(id))} rows={10}>
        {(call) => <OfCall call={call} />}
      </Answer>
    </Page>
  )
}

function OfCall({ call }: { call: Call }) {
  const [address] = useReplayAddress()
  const exchange = exchangeOf(call, address.turn)
  if (exchange === null)
    return (
      <Empty title={`The call has no turn ${address.turn}`}>
        <p>Choose a turn on the page of the call.</p>
      </Empty>
    )
  const { stage } = address
  return (
    <>
      <Tabs
        label="What is tried again"
        tabs={stages.map((each) => ({
          ...{ name: names[each], to: '.', isCurrent: each === stage },
          search: replaySearch({ ...address, stage: each, choices: [] }),
        }))}
      />
      {/* Another turn or stage begins without results. */}
      <OfStage key={`${address.turn} ${stage}`} call={call} exchange={exchange} stage={stage} />
    </>
  )
}

const names: Record<Stage, string> = { stt: 'Speech to text', llm: 'Answer', tts: 'Voice' }
const operations = {
  stt: 'createTranscription',
  llm: 'createResponse',
  tts: 'createSpeech',
} as const satisfies Record<Stage, Operation>

const roleNote = (needs: Operation) => `Replaying needs the role ${lowestRole(needs)}, because each request is billed.`

type OfStageProps = { call: Call; exchange: Exchange; stage: Stage }

function OfStage({ call, exchange, stage }: OfStageProps) {
  const [{ choices }, change] = useReplayAddress()
  const turn = turnOf(exchange, stage)
  const why = whyNot(call, exchange, stage)
  const may = useMay(operations[stage])
  const canHear = useMay('getCallRecordingAudio')
  const mask = useMask()
  const prepare = useCallback(
    (signal: AbortSignal): Run => (turn === null ? withoutTurn : runs[stage](call, turn, signal)),
    [call, turn, stage],
  )
  const { replays, start } = useReplays(prepare)
  return (
    <Stack>
      {why !== null && <Notice tone="calm" title={why} />}
      {!may && <Notice tone="calm" title={roleNote(operations[stage])} />}
      {why === null && may && (
        <Choices
          stage={stage}
          language={call.language}
          choices={choices}
          change={(next) => change({ stage, choices: next })}
          isRunning={replays.some(({ state }) => state === 'running')}
          start={() => start(choices)}
        />
      )}
      {turn !== null && <Comparison call={call} turn={turn} stage={stage} replays={replays} canHear={canHear} />}
      {why === null && <CommandStrip command={commandOf({ call, exchange, stage, choices }, mask)} />}
    </Stack>
  )
}

const withoutTurn: Run = () => Promise.reject(new Error('There is no turn.'))

/** Each prepares a turn's input once, and returns a function that sends this input to one model. */
const runs: Record<Stage, (call: Call, turn: CallTurn, signal: AbortSignal) => Run> = {
  stt: (call, turn, signal) => {
    const audio = readRecording(call.id, 'caller', spanOf(call, turn), signal)
    return async (choice) => transcribeAgain(call, await audio, choice, signal)
  },
  llm: (call, turn, signal) => (choice) => answerAgain(call, turn, choice, signal),
  tts: (call, turn, signal) => (choice) => speakAgain(call, turn, choice, signal),
}
