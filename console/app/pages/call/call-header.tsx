import { Link } from '@tanstack/react-router'
import { Archive, ArrowLeft, ArrowRight, Download } from 'lucide-react'
import type { Call, CallEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { audioAddress, bundleAddress, useRecordingFault } from '../../data/calls.ts'
import { useMay } from '../../data/may.ts'
import { Badge } from '../../parts/badge.tsx'
import buttonStyles from '../../parts/button.module.css'
import { CopyButton } from '../../parts/copy-button.tsx'
import { endReasons } from '../../parts/end-reasons.ts'
import { Facts } from '../../parts/facts.tsx'
import { clockTime, money, words } from '../../parts/formats.ts'
import { Private, useMask } from '../../parts/redaction.tsx'
import { RoleNote } from '../../parts/role.tsx'
import { toneOfOutcome, toneOfStatus } from '../../parts/statuses.ts'
import { useTimes } from '../../parts/times.tsx'
import styles from './call-header.module.css'
import { JoinBar, JoinButton } from './join-bar.tsx'
import { LiveActions } from './live-actions.tsx'
import { TransferBar } from './transfer-bar.tsx'
import { completedTransferOf, openTransferOf, recipientOf } from './transfer-words.ts'
import { useJoin } from './use-join.ts'

export function CallHeader({ call, events }: { call: Call; events: readonly CallEvent[] }) {
  const { report, status } = call
  const isLive = call.ended_at === null
  const canSaveAudio = useMay('getCallRecordingAudio')
  const canSaveBundle = useMay('getCallBundle')
  // The player asks. A link to a recording that the server does not send would fail without words.
  const fault = useRecordingFault(call.id)
  const join = useJoin(call.id)
  const isOnHold = openTransferOf(call) !== undefined
  // The server lets people join and transfers the call only while the agent has the caller: after the answer, not while
  // a transfer is under way, and not after a transfer.
  const canHandOver = status === 'in_progress' && !isOnHold && completedTransferOf(call) === undefined
  return (
    <header className={styles.header}>
      <Link to="/calls" className={styles.back}>
        <ArrowLeft aria-hidden="true" />
        Calls
      </Link>
      <span className={styles.id}>
        <code>{call.id}</code>
        <CopyButton text={call.id} label="Copy the id of the call" />
      </span>
      <div className={styles.top}>
        <h1>
          <Parties call={call} />
        </h1>
        <StatusBadge call={call} />
        {report !== null && report.outcome !== status && (
          <Badge tone={toneOfOutcome(report.outcome)}>{words(report.outcome)}</Badge>
        )}
        <div className={styles.actions}>
          {canHandOver && <JoinButton join={join} />}
          {isLive && <LiveActions id={call.id} canTransfer={canHandOver} />}
          <CopyButton text={window.location.href} label="Copy the address of this moment">
            Link
          </CopyButton>
          {canSaveAudio && call.recording_status === 'ready' && fault === null && (
            <a className={buttonStyles.button} href={audioAddress(call.id)} download={`call-${call.id}.wav`}>
              <Download aria-hidden="true" />
              Audio
            </a>
          )}
          {canSaveBundle && !isLive && (
            <a
              className={buttonStyles.button}
              href={bundleAddress(call.id)}
              download={`call-${call.id}.tar`}
              aria-label="Download the bundle"
              title="The call as one file, for `parley replay`. Credentials of known forms are removed."
            >
              <Archive aria-hidden="true" />
              Bundle
            </a>
          )}
        </div>
      </div>
      {isLive ? (
        <RoleNote needs="endCall" action="Joining, transferring and ending a call" />
      ) : (
        <RoleNote needs="getCallBundle" action="Saving a call" />
      )}
      <JoinBar join={join} isOnHold={isOnHold} />
      {isLive && (
        <TransferBar call={call} events={events} isSpeaking={join.phase === 'speaking'} canTransfer={canHandOver} />
      )}
      <CallFacts call={call} />
    </header>
  )
}

/** Shows the status. If a live call was transferred, shows the recipient's number instead. */
function StatusBadge({ call }: { call: Call }) {
  const isLive = call.ended_at === null
  const completed = isLive ? completedTransferOf(call) : undefined
  return (
    <Badge tone={toneOfStatus(call.status)} isLive={isLive}>
      {completed ? (
        <span>
          with <Private>{completed.transfer_to}</Private>
        </span>
      ) : (
        words(call.status)
      )}
    </Badge>
  )
}

function Parties({ call: { from, to, kind } }: { call: Call }) {
  if (to === null) return 'Browser call'
  return (
    <span className={styles.parties}>
      <Private>{from ?? 'withheld'}</Private>
      <ArrowRight aria-label="calls" role="img" />
      <Private>{to}</Private>
      {kind === 'rmsg' && ' (rich messages)'}
    </span>
  )
}

function CallFacts({ call }: { call: Call }) {
  const { report, pipeline_config: pipeline } = call
  const agentName = pipeline['agentName']
  const completed = completedTransferOf(call)
  const mask = useMask()
  const { zone, moment } = useTimes()
  return (
    <Facts
      rows={[
        [
          'Started',
          <time key="t" dateTime={call.created_at} title={zone}>
            {moment(call.created_at)}
          </time>,
        ],
        ['Length', call.duration_seconds === null ? 'live' : clockTime(call.duration_seconds)],
        ['Cost', report === null ? null : costOf(report)],
        ['Agent', typeof agentName === 'string' ? agentName : null],
        ['Kind', words(call.kind)],
        ['Begun by', <Private key="by">{`${words(call.started_by.type)} ${call.started_by.name ?? ''}`}</Private>],
        ['Language', call.language],
        ['End', call.end_reason && endReasons[call.end_reason]],
        ['Transferred to', completed ? recipientOf(completed, mask) : null],
        ['Test', call.test === true ? 'yes' : null],
      ]}
    />
  )
}

const costOf = (report: { cost_micro_usd: string; cost_complete: boolean }) =>
  `${money(report.cost_micro_usd)}${report.cost_complete ? '' : ' and unknown costs'}`
