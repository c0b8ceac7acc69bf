import { Pause, Play, ZoomIn, ZoomOut } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Call } from '../../../../generated/clients/typescript/models/platform.ts'
import { usePeaks } from '../../data/calls.ts'
import type { Failure } from '../../data/failures.ts'
import { lowestRole } from '../../data/may.ts'
import { Button } from '../../parts/button.tsx'
import { clockTime } from '../../parts/formats.ts'
import type { Address } from './address.ts'
import { Axis } from './axis.tsx'
import type { Window } from './draw-axis.ts'
import { type Player, speeds } from './player.ts'
import styles from './player-bar.module.css'
import { type Timeline, voiceOf } from './timeline.ts'

type BarProps = {
  call: Call
  canPlay: boolean
  /** Says why the server does not send the recording. Null if nothing failed. */
  fault: Failure | null
  timeline: Timeline
  player: Player
  address: Address
}

/** The player stays in view while the transcript scrolls. */
export function PlayerBar({ call, canPlay, fault, timeline, player, address }: BarProps) {
  const peaks = usePeaks(call.id, call.recording_status === 'ready')
  const { window, zoom, canZoomOut } = useWindow(timeline.lengthS, player.nowS)
  return (
    <section className={styles.player} aria-label="Player">
      <div className={styles.controls}>
        <Button
          look="main"
          className={styles.play}
          disabled={!canPlay}
          onClick={player.toggle}
          aria-label={player.isPlaying ? 'Pause' : 'Play'}
        >
          {player.isPlaying ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
        </Button>
        <span className={styles.time}>
          <b>{clockTime(player.nowS)}</b> / {clockTime(timeline.lengthS)}
        </span>
        {!canPlay && (
          <span className={styles.note} role="status">
            {fault === null ? noteOf(call) : `The recording cannot be played. ${fault.message}`}
          </span>
        )}
        {fault !== null && (
          <Button isSmall onClick={player.reload}>
            Try again
          </Button>
        )}
        <Legend timeline={timeline} />
        <label className={styles.speed}>
          <span>Speed</span>
          <select
            aria-label="Speed"
            value={player.speed}
            onChange={(event) => player.setSpeed(Number(event.target.value))}
          >
            {speeds.map((each) => (
              <option key={each} value={each}>{`${each}×`}</option>
            ))}
          </select>
        </label>
        <Button look="quiet" isSmall aria-label="Zoom out" disabled={!canZoomOut} onClick={() => zoom(0.5)}>
          <ZoomOut aria-hidden="true" />
        </Button>
        <Button look="quiet" isSmall aria-label="Zoom in" onClick={() => zoom(2)}>
          <ZoomIn aria-hidden="true" />
        </Button>
      </div>
      <Axis
        timeline={timeline}
        peaks={peaks}
        window={window}
        nowS={player.nowS}
        turn={address.turn}
        seek={player.seek}
        zoom={zoom}
      />
    </section>
  )
}

/** Names the colours of the axis. A colleague and a transfer are named only if the axis shows them. */
function Legend({ timeline: { lines, legs } }: { timeline: Timeline }) {
  const hasColleague = lines.some(({ turn }) => voiceOf(turn) === 'colleague')
  return (
    <span className={styles.legend} data-legend aria-hidden="true">
      <i className={styles.caller} /> Caller <i className={styles.agent} /> Agent
      {hasColleague && (
        <>
          <i className={styles.colleague} /> Colleague
        </>
      )}
      {legs.length > 0 && (
        <>
          <i className={styles.transfer} /> Transfer
        </>
      )}
    </span>
  )
}

const notes: Partial<Record<NonNullable<Call['recording_status']>, string>> = {
  recording: 'The recording can be played when the call is over.',
  uploading: 'The recording is being stored.',
  failed: 'The recording failed.',
  ready: `Listening to recordings and downloading them needs the role ${lowestRole('getCallRecordingAudio')}.`,
}

const noteOf = ({ recording_status: status }: Call) => (status && notes[status]) ?? 'This call has no recording.'

/** The axis shows at least this many seconds. */
const leastS = 4

/** Returns the visible part of the axis, which follows the position. */
function useWindow(lengthS: number, nowS: number) {
  const [factor, setFactor] = useState(1)
  const [fromS, setFrom] = useState(0)
  const shownS = lengthS / factor
  useEffect(() => {
    const isInside = nowS >= fromS && nowS <= fromS + shownS
    if (!isInside) setFrom(Math.max(0, Math.min(nowS - shownS * 0.1, lengthS - shownS)))
  }, [nowS, fromS, shownS, lengthS])
  const zoom = (by: number) => {
    const next = Math.min(Math.max(1, factor * by), Math.max(1, lengthS / leastS))
    const nextS = lengthS / next
    setFactor(next)
    setFrom(Math.max(0, Math.min(nowS - nextS / 2, lengthS - nextS)))
  }
  const window: Window = { fromS, toS: fromS + shownS }
  return { window, zoom, canZoomOut: factor > 1 }
}
