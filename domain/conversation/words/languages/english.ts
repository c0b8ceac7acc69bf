import type { LanguageWords } from './language-words.ts'

export const english = {
  turns: {
    backchannels:
      'yeah|yes|yep|yup|ya|right|sure|alright|all right|i see|got it|of course|exactly|true|great|good|cool|nice|fine|uh|um|mhmm|understood|go on|i know|really|wow|absolutely|indeed|makes sense|uh hm',
    unfinished:
      'and|or|but|because|cause|if|when|while|although|unless|until|since|which|whose|the|a|an|my|your|his|her|its|our|their|of|to|at|for|with|from|into|between|than|as|i|im|i am|i would like|i want|id like|can you|could you|can you please|could you please|would you please|im calling is|uh|um|er|you know|i mean|let me see|plus|very|and so|my name is|i would|because of|calling about|question about|ask about|asking about|know about|can i|could i|may i|can we|could we|do you|did you|would you|will you|do i|should i|how do i|is there|are there|can you tell me|could you tell me|i need|i wanted|im looking|im calling|let me|what if|how much|number is|name is|address is|email is|code is|here is|spelled|dot|underscore|hyphen|dash',
    openings: 'please',
  },
  agent: {
    fallback: 'Sorry, I am having trouble answering right now. Could you say that again?',
    toolLeadIn: 'One moment, please.',
    screeningQuestion: 'To take the call, press 1 or say yes. To decline it, press 2 or say no.',
    screeningReason: 'Hello. I have a caller on the line for you.',
    summaryIntroduction: 'The caller has said:',
  },
  decisions: {
    yes: 'yes|yeah|yep|yup|sure|accept|i accept|put them through|put him through|put her through|go ahead|of course|absolutely|connect|please do',
    no: 'no|nope|nah|not|dont|do not|decline|refuse|cant|cannot|busy|never|later',
  },
  greetings: {
    voicemail:
      'voicemail|voice mail|voice mailbox|mailbox|leave a message|leave me a message|leave your message|leave your name|record your message|record a message|after the tone|at the tone|after the beep|at the beep|get back to you as soon|answering machine|is not available to take your call',
    excuse:
      'cant take your call|cannot take your call|cant answer the phone|cant come to the phone|cannot come to the phone|unable to take your call|unable to come to the phone|cant talk|cannot talk|cant speak',
    busy: 'am driving|im driving|on another call|on the other line|with a customer|with a client|not a good time|in a meeting|at work|am busy|im busy|busy right now|in the middle of|call me back|call me later|call me again|hang on|hold on|one second|just a second|just a minute|give me a minute|in the shower',
    ambiguous: 'you have reached|youve reached|is not available|are not available|am not available|is unavailable',
    person:
      'how can i help|how may i help|can i help you|may i help you|how can i be of|what can i do for you|how can i direct|how may i direct|whos calling|who is calling|may i ask who|what is this about|whats this about|what is it about|got your voicemail|got your message|left me a voicemail|leave a message with me|wrong number|whos this|who is this|like to leave a|want to leave a|take a message|did you leave|have you left|you left a|you left me|you just called|did you call|you called me',
    conversing:
      'screening service|call screening|record your name|say your name|say why you are calling|reason for your call|why youre calling|press one|press two|press 1|press 2|press zero|press 0|stay on the line',
  },
  transferRequests:
    'transfer me|transfer the call|transfer this call|be transferred|put me through|connect me|speak to|speak with|talk to|talk with|a real person|a human|an operator|an agent',
} satisfies LanguageWords
