import { Scissors, Wrench } from 'lucide-react'
import { memo } from 'react'
import type { TurnToolCall } from '../../../../generated/clients/typescript/models/platform.ts'
import { Badge } from '../../parts/badge.tsx'
import { classes } from '../../parts/classes.ts'
import { clockTime, milliseconds } from '../../parts/formats.ts'
import { Private } from '../../parts/redaction.tsx'
import { slowMs } from '../../parts/statuses.ts'
import { SilenceStrip } from './silence-strip.tsx'
import { type Line, playedParts, voiceOf } from './timeline.ts'
import styles from './transcript.module.css'

type RowProps = {
  line: Line
  isCurrent: boolean
  isSelected: boolean
  select: (line: Line) => void
  seek: (seconds: number) => void
}

export const TurnRow = memo(function TurnRow({ line, isCurrent, isSelected, select, seek }: RowProps) {
  const { turn, startS, silence, isInterrupted } = line
  const voice = voiceOf(turn)
  return (
    <li
      data-turn={turn.index}
      aria-current={isCurrent}
      className={classes(
        styles.turn,
        voice === 'caller' && styles.ofCaller,
        voice === 'colleague' && styles.ofColleague,
        isCurrent && styles.current,
        isSelected && styles.selected,
      )}
    >
      <button
        type="button"
        className={styles.time}
        onClick={() => seek(startS)}
        aria-label={`${clockTime(startS)}: play from here`}
      >
        {clockTime(startS)}
      </button>
      <div className={styles.body}>
        <p className={styles.speaker}>
          {speakerOf(line)}
          {isInterrupted && (
            <Badge tone="warn">
              <Scissors aria-hidden="true" size={12} /> interrupted
            </Badge>
          )}
        </p>
        <Words line={line} />
        {turn.tool_calls.map((tool) => (
          <ToolLine key={tool.id} tool={tool} />
        ))}
        {silence && (
          <button
            type="button"
            className={styles.latency}
            onClick={() => select(line)}
            aria-label={`${milliseconds(silence.ms)} of silence: show the steps of turn ${turn.index}`}
          >
            <SilenceStrip silence={silence} />
            <span className={silence.ms >= slowMs ? styles.slow : undefined}>{milliseconds(silence.ms)}</span>
          </button>
        )}
      </div>
    </li>
  )
})

function speakerOf({ turn }: Line): string {
  if (turn.source === 'user') return 'Caller'
  if (turn.source === 'system') return 'System'
  if (voiceOf(turn) === 'agent') return 'Agent'
  const name = turn.metadata['displayName']
  return typeof name === 'string' && name !== '' ? name : 'Colleague'
}

/** Shows the words that the caller did not get apart from the played words. */
function Words({ line: { turn } }: { line: Line }) {
  const { played, lost } = playedParts(turn)
  return (
    <p className={styles.words}>
      <span data-words="played">
        <Private>{played}</Private>
      </span>
      {lost !== '' && (
        <del className={styles.lost} title="The caller did not get these words" data-words="lost">
          <Private>{lost}</Private>
        </del>
      )}
    </p>
  )
}

function ToolLine({ tool: { name, args, status } }: { tool: TurnToolCall }) {
  return (
    <p className={styles.tool}>
      <Wrench aria-hidden="true" />
      <code>
        {name}(<Private>{args}</Private>)
      </code>
      <Badge tone={status === 'failed' ? 'alarm' : status === 'completed' ? 'good' : 'plain'}>{status}</Badge>
    </p>
  )
}
