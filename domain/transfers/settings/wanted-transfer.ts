/** Reads a transfer request: checks rules a schema cannot express, and fills in the defaults. */
import { issuesOfMetadata } from '../../records/metadata.ts'
import { type Issue, refuseIssues, type ValuePath } from '../../records/resource-fault.ts'
import type { Destination, Fallback, MachineDetection, WantedTransfer } from '../../records/transfer.ts'
import type { AskedBlind, AskedDestination, AskedFallback, AskedWarm } from '../../records/transfer-request.ts'
import { type HostPolicy, urlProblem } from '../../webhooks/target.ts'

/** A checked request without the number to dial from, because that depends on the call. */
export type ReadTransfer = Omit<WantedTransfer, 'from' | 'isNumberOfCall' | 'outboundTrunkId'> & {
  from: string | null
  participantIdentity: string | null
}

/** Part of the contract. */
const ringingDefaultS = 30
const screeningDefaultS = 20
const detectionDefaultS = 10

export type IsPhoneNumber = (text: string) => boolean
/** Checks a schema cannot express. */
export type TransferRules = { isPhoneNumber: IsPhoneNumber; hosts: HostPolicy }

/** Throws ResourceFault `invalid`. */
export function readBlind(asked: AskedBlind, { isPhoneNumber }: Pick<TransferRules, 'isPhoneNumber'>): ReadTransfer {
  const { to, metadata } = asked
  refuseIssues([...numberIssues([['to'], to], isPhoneNumber), ...issuesOfMetadata(metadata ?? {})])
  return {
    kind: 'blind',
    from: null,
    destinations: [{ to, label: null, screeningPrompt: null, summary: null, metadata: metadata ?? {} }],
    ringingTimeoutS: asked.ringingTimeout ?? ringingDefaultS,
    screeningTimeoutS: null,
    fallback: fallbackOf(null),
    detection: null,
    headers: asked.headers ?? {},
    playsDialtone: asked.playDialtone ?? false,
    participantIdentity: asked.participantIdentity ?? null,
  }
}

/** Throws ResourceFault `invalid`. */
export function readWarm(asked: AskedWarm, rules: TransferRules): ReadTransfer {
  const { to = null, destinations = null, from = null, voicemailDetection } = asked
  refuseIssues(issuesOfWarm(asked, rules))
  const all = destinations ?? (to === null ? [] : [{ to }])
  return {
    kind: 'warm',
    from,
    destinations: all.map((destination) => destinationOf(asked, destination)),
    ringingTimeoutS: asked.ringingTimeout ?? ringingDefaultS,
    screeningTimeoutS: asked.screeningTimeout ?? screeningDefaultS,
    fallback: fallbackOf(asked.fallback ?? null),
    detection: {
      mode: detectionModeOf(voicemailDetection ?? {}),
      timeoutSeconds: voicemailDetection?.timeoutSeconds ?? detectionDefaultS,
    },
    headers: {},
    playsDialtone: false,
    participantIdentity: asked.participantIdentity ?? null,
  }
}

function detectionModeOf({ mode, enabled }: NonNullable<AskedWarm['voicemailDetection']>): MachineDetection['mode'] {
  if (enabled === false) return 'disabled'
  return mode === 'amd' ? 'carrier' : (mode ?? 'agent')
}

function destinationOf(asked: AskedWarm, own: AskedDestination): Destination {
  return {
    to: own.to,
    label: own.label ?? null,
    screeningPrompt: own.screeningPrompt ?? asked.screeningPrompt ?? null,
    summary: own.summary ?? asked.summary ?? null,
    metadata: own.metadata ?? asked.metadata ?? {},
  }
}

function fallbackOf(asked: AskedFallback | null): Fallback {
  return {
    action: asked?.strategy ?? 'return_to_assistant',
    message: asked?.message ?? null,
    takeMessagePrompt: asked?.takeMessagePrompt ?? null,
    holdAudioUrl: asked?.holdAudioUrl ?? null,
  }
}

export function issuesOfWarm(asked: AskedWarm, { isPhoneNumber, hosts }: TransferRules): Issue[] {
  const { from, metadata, fallback } = asked
  const url = fallback?.holdAudioUrl ?? null
  const problem = url === null ? null : urlProblem(url, hosts)
  return [
    ...destinationIssues(asked, isPhoneNumber),
    ...(typeof from === 'string' ? numberIssues([['from'], from], isPhoneNumber) : []),
    ...(problem ? [{ path: ['fallback', 'holdAudioUrl'], problem }] : []),
    ...issuesOfMetadata(metadata ?? {}),
  ]
}

function destinationIssues({ to = null, destinations = null }: AskedWarm, isPhoneNumber: IsPhoneNumber): Issue[] {
  if ((to === null) === (destinations === null))
    return [{ path: ['destinations'], problem: { kind: 'destination_ambiguous' } }]
  if (destinations === null) return to === null ? [] : numberIssues([['to'], to], isPhoneNumber)
  return destinations.flatMap((destination, at) => [
    ...numberIssues([['destinations', at, 'to'], destination.to], isPhoneNumber),
    ...issuesOfMetadata(destination.metadata ?? {}, ['destinations', at, 'metadata']),
  ])
}

function numberIssues([path, number]: [ValuePath, string], isPhoneNumber: IsPhoneNumber): Issue[] {
  return isPhoneNumber(number) ? [] : [{ path, problem: { kind: 'number_invalid' } }]
}
