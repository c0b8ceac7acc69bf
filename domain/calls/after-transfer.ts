/** Decides how the conversation continues if no number in a transfer accepted the call. */
import type { AfterHold } from '../conversation/parts/transferable.ts'
import type { FailureCause } from '../records/states/transfer.ts'
import type { TransferSettings } from '../records/transfer.ts'

const reasons: Readonly<Record<FailureCause, string>> = {
  busy: 'the line is busy',
  no_answer: 'nobody answered',
  declined: 'the recipient did not accept the call',
  voicemail: 'a voicemail has answered',
  caller_hung_up: 'the caller has hung up',
  carrier_error: 'the call could not be connected',
}

/** If a person answered and did not decide, the cause is also `no_answer`, as if the phone had only rung. */
const undecided = 'the person did not decide in time'

const failed = 'The call was not transferred:'
const asking = 'Take a message.'

/** Returns true if a transfer's note asks the agent to take a message. */
export function asksForMessage(note: string): boolean {
  return note.startsWith(failed) && note.includes(asking)
}

/**
 * Returns the agent's notes and the message to the caller after a failed transfer. `cause` is the newest attempt's
 * failure cause. `wasAsked` is true if this attempt's recipient answered the phone and was asked to take the call.
 */
export function afterHoldOf({ fallback }: TransferSettings, cause: FailureCause | null, wasAsked: boolean): AfterHold {
  const { action, message, takeMessagePrompt } = fallback
  const why = whyOf(cause, wasAsked)
  const takes = action === 'take_message' ? ` ${asking} ${takeMessagePrompt ?? ''}`.trimEnd() : ''
  return {
    note: `${failed} ${why}.${takes}`,
    message,
    hint: `[${failed} ${why}. Tell the caller in one short sentence, and offer to ${takes === '' ? 'help' : 'take a message'}.]`,
    endsCall: action === 'end_call',
  }
}

function whyOf(cause: FailureCause | null, wasAsked: boolean): string {
  if (cause === null) return 'it was cancelled'
  return cause === 'no_answer' && wasAsked ? undecided : reasons[cause]
}
