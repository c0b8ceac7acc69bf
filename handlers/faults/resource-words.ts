/** The platform API's messages for faults about stored resources. */
import type { RecordingStatus } from '../../domain/records/call.ts'
import type { Resource, ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { ErrorCode } from '../../generated/platform/errors.ts'
import { issueOf, issuesMax, pointerOf } from './field-words.ts'
import { isOfLiveCall, sayLiveCallFault } from './live-call-words.ts'
import { notDialed } from './not-dialed-words.ts'
import { isOfNumber, sayNumberFault } from './number-words.ts'
import { isOfRmsg, sayRmsgFault } from './rmsg-words.ts'
import type { Said } from './said.ts'
import { isOfSms, saySmsFault } from './sms-words.ts'
import { isOfTrial, sayTrialFault } from './trial-words.ts'

/** For faults with a temporary cause. */
const retryLater = { retryAfterS: 5 }

const nameConflict: Record<Extract<Resource, 'agent' | 'tool'>, ErrorCode> = {
  agent: 'AGENT_NAME_CONFLICT',
  tool: 'TOOL_NAME_CONFLICT',
}

const reportMissing: Record<Extract<ResourceFaultData, { kind: 'report_missing' }>['because'], Said> = {
  not_ended: { code: 'REPORT_NOT_AVAILABLE', ...retryLater },
  analysing: {
    code: 'REPORT_NOT_AVAILABLE',
    ...retryLater,
    message: 'The call has ended, and its report is being analysed.',
    hint: 'Ask again after the delay.',
  },
  not_joined: { code: 'REPORT_NOT_AVAILABLE', message: 'Nobody joined this session, so it has no report.', hint: '' },
}

/** The codes for faults that need no message beyond the code's usual message. */
const bareCodes = {
  api_key_required: 'API_KEY_REQUIRED',
  key_revoked: 'KEY_REVOKED',
  last_owner: 'LAST_OWNER',
  legacy_managed: 'WEBHOOK_LEGACY_MANAGED',
  call_not_ended: 'CALL_NOT_ENDED',
  transfer_unsupported: 'TRANSFER_UNSUPPORTED',
  link_expired: 'LINK_EXPIRED',
  sign_in_failed: 'SIGN_IN_FAILED',
  setup_done: 'SETUP_DONE',
  member_exists: 'MEMBER_EXISTS',
} as const satisfies Partial<Record<ResourceFaultData['kind'], ErrorCode>>

function isBare(data: ResourceFaultData): data is Extract<ResourceFaultData, { kind: keyof typeof bareCodes }> {
  return Object.hasOwn(bareCodes, data.kind)
}

export function sayResourceFault(data: ResourceFaultData): Said {
  if (isBare(data)) return { code: bareCodes[data.kind] }
  if (isOfLiveCall(data)) return sayLiveCallFault(data)
  if (isOfNumber(data)) return sayNumberFault(data)
  if (isOfRmsg(data)) return sayRmsgFault(data)
  if (isOfSms(data)) return saySmsFault(data)
  if (isOfTrial(data)) return sayTrialFault(data)
  switch (data.kind) {
    case 'not_found':
      return { code: 'NOT_FOUND', ...(data.named && { message: `There is no ${data.named} of this id here.` }) }
    case 'version_changed':
      return versionChanged(data.version)
    case 'named_not_found':
      return { code: 'NOT_FOUND', message: `${pointerOf(data.path)} names nothing that exists here.` }
    case 'pre_call_conflict':
      return { code: 'PRE_CALL_CONFLICT', details: { endpointId: data.endpointId } }
    case 'agent_in_use':
      return {
        code: 'AGENT_IN_USE',
        details: { phoneNumberIds: [...data.phoneNumberIds], callbackIds: [...data.callbackIds] },
      }
    case 'callback_not_scheduled':
      return {
        code: 'CALLBACK_NOT_SCHEDULED',
        message: `The callback is not scheduled: its status is ${data.status}.`,
      }
    case 'redelivery_unavailable':
      return redeliveryUnavailable(data)
    case 'not_dialed':
      return notDialed(data)
    case 'kyb_conflict':
      return { code: 'KYB_STATE_CONFLICT', message: `The verification of the business is ${data.status}.` }
    case 'report_missing':
      return reportMissing[data.because]
    case 'recording_missing':
      return missingRecording(data.status)
    case 'recording_unreachable':
      return { code: 'SERVICE_UNAVAILABLE', message: 'The recording is in a bucket that cannot be reached now.' }
    case 'range_unsatisfiable':
      return { code: 'RANGE_NOT_SATISFIABLE', headers: { 'Content-Range': `bytes */${data.bytes}` } }
    case 'variables_missing':
      return variablesMissing(data.names)
    case 'link_dead':
      return linkDead
    case 'attempts_blocked':
      return attemptsBlocked(data.waitS)
    case 'name_taken':
      return { code: nameConflict[data.resource] }
    case 'limit_reached':
      return limitReached(data)
    case 'invalid': {
      const issues = data.issues.slice(0, issuesMax).map(({ path, problem }) => issueOf(path, problem))
      return { code: 'VALIDATION_ERROR', message: issues[0]?.message ?? '', issues }
    }
  }
}

const limitReached = ({ limit, resource }: { limit: number; resource: string }): Said => ({
  code: 'LIMIT_REACHED',
  message: `There are ${limit} ${resource}s already, and no more may be made.`,
})

const linkDead: Said = {
  code: 'LINK_EXPIRED',
  message: 'This link has been used, replaced, or has expired.',
  hint: 'Ask for a new one.',
}

function attemptsBlocked(retryAfterS: number): Said {
  return {
    code: 'RATE_LIMITED',
    message: 'Too many attempts to sign in have failed.',
    hint: 'Try again after the delay, or set a new password.',
    retryAfterS,
  }
}

const versionChanged = (version: number): Said => ({
  code: 'PRECONDITION_FAILED',
  message: `The agent has been changed since: its version is ${version}.`,
})

type RedeliveryUnavailable = Extract<ResourceFaultData, { kind: 'redelivery_unavailable' }>

function redeliveryUnavailable({ requestedMax, isEndpointDisabled }: RedeliveryUnavailable): Said {
  const code = 'REDELIVERY_UNAVAILABLE'
  if (isEndpointDisabled)
    return { code, message: 'The endpoint is disabled.', hint: 'Enable it, and repeat the request.' }
  if (requestedMax === undefined) return { code }
  return {
    code,
    message: `${requestedMax} redeliveries and recoveries of the organization are under way.`,
    hint: 'Repeat the request when one of them has ended.',
  }
}

function variablesMissing(names: readonly string[]): Said {
  return {
    code: 'MISSING_TEMPLATE_VARIABLES',
    issues: names.slice(0, issuesMax).map((name) => ({
      path: `/variables/${name}`,
      message: `/variables/${name} is required, because a template needs it`,
      keyword: 'required',
    })),
  }
}

function missingRecording(status: RecordingStatus | null): Said {
  const message = `There is no recording to fetch: its status is ${status ?? 'null'}.`
  if (status === 'recording' || status === 'uploading')
    return { code: 'RECORDING_NOT_AVAILABLE', message, ...retryLater }
  if (status === 'ready')
    return { code: 'RECORDING_NOT_AVAILABLE', message: 'The recording has been removed from where it was.', hint: '' }
  return { code: 'RECORDING_NOT_AVAILABLE', message, ...(status !== null && { hint: 'There will be none.' }) }
}
