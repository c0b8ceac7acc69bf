import { useCallback, useMemo } from 'react'
import type { Call, CallEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { audioAddress, clearRecordingFault, readRecordingFault, useRecordingFault } from '../../data/calls.ts'
import { useMay } from '../../data/may.ts'
import { useLatest } from '../../parts/latest.ts'
import { moveKeys } from '../../parts/row-keys.ts'
import { useShortcuts } from '../../parts/shortcuts.tsx'
import { useAddress } from './address.ts'
import { Inspector } from './inspector.tsx'
import { type Player, speeds, usePlayer } from './player.ts'
import { PlayerBar } from './player-bar.tsx'
import type { Line, Timeline } from './timeline.ts'
import { Transcript } from './transcript.tsx'
import styles from './workspace.module.css'

/** Matches narrow screens, on which the details are below the transcript. */
const isOneColumn = window.matchMedia('(max-width: 68rem)')

type WorkspaceProps = { call: Call; events: readonly CallEvent[]; timeline: Timeline }

/** Shows the player above, the words on the left, and the details of the selected turn on the right. */
export function Workspace({ call, events, timeline }: WorkspaceProps) {
  const [address, change] = useAddress()
  const selected = timeline.lines.find(({ turn }) => turn.index === address.turn)
  const player = usePlayer(address.t ?? (selected ? startOf(selected) : 0))
  const { seek } = player
  const fault = useRecordingFault(call.id)
  const mayPlay = useMay('getCallRecordingAudio') && call.recording_status === 'ready'
  const canPlay = mayPlay && fault === null
  const current = currentLine(timeline.lines, player.nowS)
  const select = useCallback(
    (line: Line) => {
      seek(startOf(line))
      change({ turn: line.turn.index, span: null, tab: 'turn', t: null })
      if (isOneColumn.matches) document.getElementById('details')?.scrollIntoView()
    },
    [seek, change],
  )
  usePlayerShortcuts(player, timeline, selected ?? current, select)
  return (
    <>
      {mayPlay && (
        <audio
          ref={player.audio}
          src={audioAddress(call.id)}
          preload="metadata"
          onError={() => void readRecordingFault(call.id)}
          onLoadedMetadata={() => clearRecordingFault(call.id)}
        />
      )}
      <PlayerBar call={call} canPlay={canPlay} fault={fault} timeline={timeline} player={player} address={address} />
      <div className={styles.columns}>
        <Transcript
          lines={timeline.lines}
          current={current?.turn.index ?? null}
          selected={address.turn}
          select={select}
          seek={seek}
          isPlaying={player.isPlaying}
          isLive={call.ended_at === null}
        />
        <Inspector call={call} events={events} timeline={timeline} address={address} change={change} seek={seek} />
      </div>
    </>
  )
}

/** A turn of the agent begins with the silence before it. */
const startOf = ({ silence, startS }: Line) => silence?.startS ?? startS

function currentLine(lines: readonly Line[], nowS: number): Line | undefined {
  return lines.findLast((line) => startOf(line) <= nowS + 0.01)
}

const skipS = 5

function usePlayerShortcuts(
  player: Player,
  { lines }: Timeline,
  from: Line | undefined,
  select: (line: Line) => void,
): void {
  const { toggle, seek, setSpeed, speed, nowS } = player
  const latest = useLatest({ nowS, speed, from, lines })
  const shortcuts = useMemo(() => {
    const step = (by: number, isWanted: (line: Line) => boolean = () => true) => {
      const { lines: all, from: line } = latest.current
      const at = line ? all.indexOf(line) : -1
      const next = by > 0 ? all.slice(at + 1).find(isWanted) : all.slice(0, Math.max(0, at)).findLast(isWanted)
      if (next) select(next)
    }
    const faster = (by: number) => {
      const at = speeds.findIndex((each) => each === latest.current.speed) + by
      const wanted = speeds[at]
      if (wanted !== undefined) setSpeed(wanted)
    }
    return [
      { keys: ' ', label: 'Play or pause', run: toggle },
      { keys: 'ArrowLeft', label: '5 seconds back', run: () => seek(latest.current.nowS - skipS) },
      { keys: 'ArrowRight', label: '5 seconds forward', run: () => seek(latest.current.nowS + skipS) },
      { keys: '[', label: 'Slower', run: () => faster(-1) },
      { keys: ']', label: 'Faster', run: () => faster(1) },
      ...moveKeys('turn', (by) => step(by)),
      {
        keys: '.',
        label: 'Next problem: slow, interrupted or a failed tool',
        run: () => step(1, ({ hasProblem }) => hasProblem),
      },
    ]
  }, [latest, toggle, seek, setSpeed, select])
  useShortcuts(shortcuts)
}
