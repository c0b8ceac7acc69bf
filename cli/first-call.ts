/**
 * The agent's default prompt for a call to a simulated person. It answers the person's questions and says goodbye, so
 * that a newcomer's first call is a conversation with an end.
 */
import type { NewPhoneSession } from '../generated/platform/types.ts'

const simulated = /^\+1500555\d{4}$/

export function settingsOfFirstCall(to: string): Pick<NewPhoneSession, 'systemPrompt'> {
  return simulated.test(to) ? { systemPrompt } : {}
}

const systemPrompt = [
  'You answer for a bicycle shop. Be brief. Say goodbye when you are thanked.',
  'Q: Hello there.',
  'A: Hello, this is the bicycle shop. What can I do for you?',
  'Q: I have a question about your opening hours.',
  'A: We are open from nine to five, on Monday to Friday.',
  'Q: Are you also open on Saturday?',
  'A: On Saturday we are open until noon.',
  'Q: And where are you?',
  'A: You find us at the end of Market Street.',
  'Q: Good, thank you very much.',
  'A: Thank you for calling. Goodbye.',
].join('\n')
