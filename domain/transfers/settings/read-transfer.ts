/** Reads a transfer request: checks rules that a schema cannot express, and fills in the defaults. */
import { issuesOfMetadata } from '../../records/metadata.ts'
import { type Issue, refuseIssues, type ValuePath } from '../../records/resource-fault.ts'
import type { Destination, Fallback, MachineDetection, TransferSettings } from '../../records/transfer.ts'
import type { BlindRequest, DestinationInput, FallbackInput, WarmRequest } from '../../records/transfer-request.ts'
import { type HostPolicy, urlProblem } from '../../webhooks/target.ts'

/** A checked request. The number to call from is still missing, because it depends on the call. */
export type ReadTransfer = Omit<TransferSettings, 'from' | 'isNumberOfCall' | 'outboundTrunkId'> & {
  from: string | null
  participantIdentity: string | null
}

/** The contract's default times, in seconds. */
const ringingDefaultS = 30
const screeningDefaultS = 20
const detectionDefaultS = 10

export type IsPhoneNumber = (text: string) => boolean
/** The checks for a transfer that a schema cannot express. */
export type TransferRules = { isPhoneNumber: IsPhoneNumber; hosts: HostPolicy }

/** Reads a blind transfer. Throws ResourceFault `invalid`. */
export function readBlind(
  request: BlindRequest,
  { isPhoneNumber }: Pick<TransferRules, 'isPhoneNumber'>,
): ReadTransfer {
  const { to, metadata } = request
  refuseIssues([...numberIssues([['to'], to], isPhoneNumber), ...issuesOfMetadata(metadata ?? {})])
  return {
    kind: 'blind',
    from: null,
    destinations: [{ to, label: null, screeningPrompt: null, summary: null, metadata: metadata ?? {} }],
    ringingTimeoutS: request.ringingTimeout ?? ringingDefaultS,
    screeningTimeoutS: null,
    fallback: fallbackOf(null),
    detection: null,
    headers: request.headers ?? {},
    playsDialtone: request.playDialtone ?? false,
    participantIdentity: request.participantIdentity ?? null,
  }
}

/** Reads a warm transfer. Throws ResourceFault `invalid`. */
export function readWarm(request: WarmRequest, rules: TransferRules): ReadTransfer {
  const { to = null, destinations = null, from = null, voicemailDetection } = request
  refuseIssues(issuesOfWarm(request, rules))
  const all = destinations ?? (to === null ? [] : [{ to }])
  return {
    kind: 'warm',
    from,
    destinations: all.map((destination) => destinationOf(request, destination)),
    ringingTimeoutS: request.ringingTimeout ?? ringingDefaultS,
    screeningTimeoutS: request.screeningTimeout ?? screeningDefaultS,
    fallback: fallbackOf(request.fallback ?? null),
    detection: {
      mode: detectionModeOf(voicemailDetection ?? {}),
      timeoutSeconds: voicemailDetection?.timeoutSeconds ?? detectionDefaultS,
    },
    headers: {},
    playsDialtone: false,
    participantIdentity: request.participantIdentity ?? null,
  }
}

function detectionModeOf({ mode, enabled }: NonNullable<WarmRequest['voicemailDetection']>): MachineDetection['mode'] {
  if (enabled === false) return 'disabled'
  return mode === 'amd' ? 'carrier' : (mode ?? 'agent')
}

function destinationOf(request: WarmRequest, own: DestinationInput): Destination {
  return {
    to: own.to,
    label: own.label ?? null,
    screeningPrompt: own.screeningPrompt ?? request.screeningPrompt ?? null,
    summary: own.summary ?? request.summary ?? null,
    metadata: own.metadata ?? request.metadata ?? {},
  }
}

function fallbackOf(input: FallbackInput | null): Fallback {
  return {
    action: input?.strategy ?? 'return_to_assistant',
    message: input?.message ?? null,
    takeMessagePrompt: input?.takeMessagePrompt ?? null,
    holdAudioUrl: input?.holdAudioUrl ?? null,
  }
}

export function issuesOfWarm(request: WarmRequest, { isPhoneNumber, hosts }: TransferRules): Issue[] {
  const { from, metadata, fallback } = request
  const url = fallback?.holdAudioUrl ?? null
  const problem = url === null ? null : urlProblem(url, hosts)
  return [
    ...destinationIssues(request, isPhoneNumber),
    ...(typeof from === 'string' ? numberIssues([['from'], from], isPhoneNumber) : []),
    ...(problem ? [{ path: ['fallback', 'holdAudioUrl'], problem }] : []),
    ...issuesOfMetadata(metadata ?? {}),
  ]
}

function destinationIssues({ to = null, destinations = null }: WarmRequest, isPhoneNumber: IsPhoneNumber): Issue[] {
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
