import type { CSSProperties } from 'react'
import { classes } from '../../parts/classes.ts'
import { milliseconds } from '../../parts/formats.ts'
import './silence-strip.module.css'
import type { Part, Silence } from './timeline.ts'
import styles from './waterfall.module.css'

type WaterfallProps = { silence: Silence; selected: string | null; select: (id: string) => void }

/**
 * Draws a silence's steps. A filled bar is the time for which the caller waited on the step. These times sum to the
 * silence. A hollow bar ran beside other steps.
 */
export function Waterfall({ silence, selected, select }: WaterfallProps) {
  const { parts, ms } = silence
  return (
    <div role="table" aria-label="Steps of the silence" className={styles.waterfall}>
      {parts.map((part) => (
        <Row key={part.id} part={part} silence={silence} isSelected={part.id === selected} select={select} />
      ))}
      <div role="row" className={styles.sum}>
        <span role="rowheader">silence</span>
        <span role="cell">{silence.isPreempted ? 'the answer was begun early' : ''}</span>
        <b role="cell" data-sum={ms}>
          {milliseconds(ms)}
        </b>
      </div>
    </div>
  )
}

type RowProps = { part: Part; silence: Silence; isSelected: boolean; select: (id: string) => void }

function Row({ part, silence, isSelected, select }: RowProps) {
  const { provider, model, name } = part.span.attributes
  const detail = typeof provider === 'string' ? `${provider}:${String(model)}` : typeof name === 'string' ? name : ''
  return (
    <div role="row" className={classes(styles.row, isSelected && styles.selected)} data-step={part.kind}>
      <span role="rowheader" className={styles.name}>
        <button type="button" onClick={() => select(part.id)} aria-pressed={isSelected}>
          {part.kind}
        </button>
        <small>{detail}</small>
      </span>
      <span role="cell" className={styles.track} title={`${milliseconds(part.durationMs)} in all`}>
        <i className={styles.beside} style={barOf(part, silence)} />
        <i className={styles.bar} style={waitedOf(part, silence)} />
      </span>
      <span role="cell" className={styles.ms} data-waited={part.waitedMs}>
        {milliseconds(part.waitedMs)}
      </span>
    </div>
  )
}

/** Returns a bar's position in the silence. The silence fills the whole width. */
function place(fromS: number, toS: number, { startS, ms }: Silence): CSSProperties {
  const share = (seconds: number) => Math.min(100, Math.max(0, ((seconds - startS) * 100_000) / Math.max(1, ms)))
  return { left: `${share(fromS)}%`, width: `${Math.max(0, share(toS) - share(fromS))}%` }
}

const endOf = ({ startS, durationMs }: Part, silence: Silence) =>
  Math.min(startS + durationMs / 1000, silence.startS + silence.ms / 1000)

const barOf = (part: Part, silence: Silence) => place(part.startS, endOf(part, silence), silence)

/** Returns the bar's part in which the caller waited: the end of the step. */
function waitedOf(part: Part, silence: Silence): CSSProperties {
  const endS = endOf(part, silence)
  return place(endS - part.waitedMs / 1000, endS, silence)
}
