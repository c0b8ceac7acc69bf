import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CallRequest, RequestAttempt } from '../../../../generated/clients/typescript/models/platform.ts'
import { callRequestsQuery, routeQuery } from '../../data/calls.ts'
import { Badge } from '../../parts/badge.tsx'
import { classes } from '../../parts/classes.ts'
import { clockTime, milliseconds, money, words } from '../../parts/formats.ts'
import { Answer, Empty } from '../../parts/states.tsx'
import styles from './models-tab.module.css'

/** Lists the requests to models, and why each request went to its model. */
export function ModelsTab({ callId, turn }: { callId: string; turn: number | null }) {
  return (
    <Answer of={useQuery(callRequestsQuery(callId))}>
      {({ requests, complete }) =>
        requests.length === 0 ? (
          <Empty title="No model was asked in this call" />
        ) : (
          <>
            <ol className={styles.requests} aria-label="Requests to models">
              {requests.map((request) => (
                <Request
                  key={request.request_id}
                  request={request}
                  isOfTurn={turn !== null && request.turn_index === turn}
                />
              ))}
            </ol>
            {!complete && <p className={styles.note}>Older requests were deleted for their age.</p>}
          </>
        )
      }
    </Answer>
  )
}

function Request({ request, isOfTurn }: { request: CallRequest; isOfTurn: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const {
    request_id: id,
    stage,
    provider,
    model,
    outcome,
    start_ms: startMs,
    duration_ms: durationMs,
    attempts,
  } = request
  return (
    <li className={classes(styles.request, isOfTurn && styles.ofTurn)}>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className={styles.time}>{clockTime(startMs / 1000)}</span>
        <span>
          <b>{stage}</b> {provider === null ? 'nobody answered' : `${provider}:${model ?? ''}`}
          <small>{`${milliseconds(durationMs)}${request.cost_micro_usd === null ? '' : ` · ${money(request.cost_micro_usd)}`}`}</small>
        </span>
        <Outcome outcome={outcome} attempts={attempts} />
        {attempts.length > 1 && <Badge tone="warn">{`${attempts.length} attempts`}</Badge>}
      </button>
      {isOpen && (
        <div className={styles.more}>
          {attempts.map((attempt) => (
            <Attempt key={attempt.attempt_id} attempt={attempt} />
          ))}
          {request.has_route && <Route id={id} />}
          <code>{id}</code>
        </div>
      )}
    </li>
  )
}

/** A request that the call's end or an interruption has cancelled is no failure, although its API has an error code. */
function Outcome({ outcome, attempts }: Pick<CallRequest, 'outcome' | 'attempts'>) {
  if (outcome === 'succeeded') return null
  if (attempts.at(-1)?.outcome === 'cancelled') return <Badge>cancelled</Badge>
  return <Badge tone="alarm">{words(outcome)}</Badge>
}

function Attempt({ attempt }: { attempt: RequestAttempt }) {
  const { provider, model, outcome, duration_ms: durationMs, first_byte_ms: firstByteMs } = attempt
  const first = firstByteMs === null ? '' : `, first answer after ${milliseconds(firstByteMs)}`
  return <p>{`${provider}:${model}: ${words(outcome)} in ${milliseconds(durationMs)}${first}`}</p>
}

/** Shows why the server chose this model. */
function Route({ id }: { id: string }) {
  return (
    <Answer of={useQuery(routeQuery(id))} rows={2}>
      {({ objective, candidate, runners_up: others, excluded }) => (
        <section>
          <h3>Why this model</h3>
          <p>
            {`${candidate ?? 'No model'} was ranked first${objective === null ? '' : ` for ${objective}`}.`}
            {others.length > 0 && ` Next: ${others.join(', ')}.`}
          </p>
          {excluded.length > 0 && (
            <ul>
              {excluded.map((each) => (
                <li key={JSON.stringify(each)}>{`${each.provider}:${each.model}: ${words(each.reason)}`}</li>
              ))}
            </ul>
          )}
        </section>
      )}
    </Answer>
  )
}
