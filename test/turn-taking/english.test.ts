import { checkLanguage } from './check.ts'

checkLanguage('en', {
  numbers: {
    holds: `
      My account number is 1234
      The account number is one two three four
      My policy number is 77
      My customer number is 12
      My booking number is four
      My zip code is 10
      The postcode is nine oh
      My social security number is 123 45
      The verification code is 48
      My pin is 4
      The security code is 12
      My date of birth is 12
      My sort code is 20 45
      It is 47 11
      My tracking number is 1 2 3
      The claim number is two two
      Double four
      My IBAN is GB29 NWBK
      My IBAN is DE89 3704 0044
      The reference number is`,
    ends: `
      My account number is 12345678
      My customer number is 47112
      My order number is 4711.
      My zip code is 10001
      My zip code is one oh oh oh one
      My pin is 1234
      The security code is 123
      My date of birth is 12 3 1980
      My sort code is 20 45 77
      I am twenty five
      At 10:30.
      On 12/05/2024.
      It costs 4.50
      About 1,000
      There are 212
      My IBAN is GB29 NWBK 6016 1331 9268 19
      I don't have an IBAN.
      A table for four.
      In nineteen eighty four.
      Room 12`,
  },
  cards: {
    holds: `
      The card number is 4111
      My card is 4111 1111
      My credit card is 4111 1111 1111
      My credit card number is four one one one
      The number of my debit card is 5500
      My card number is 3782 822463
      It's card number 4111 1111 1111 11
      My Visa card number is forty one eleven
      My credit card is five five double zero
      My new card is 4000 0000.
      The card number is`,
    ends: `
      My card number is 4111 1111 1111 1111
      My card is 3782 822463 10005
      My credit card is 4111111111111111.
      My card number is four one one one one one one one one one one one one one one one
      My card expires in 27
      My card ends in 42
      I lost my card.
      I want to pay by card
      My card was stolen yesterday
      I have two cards
      The expiry date is 12 27
      Is my card valid?`,
  },
  phones: {
    holds: `
      My number is 212
      My number is two one two
      My number is 212 555
      My number is 212 555 12
      My number is two twelve
      You can reach me at 415
      Call me back at 212 555
      My phone number is plus one
      My number is +49 171
      My number is 07911
      My cell is area code 212
      My mobile is 07911 123
      It's 0 2 0
      My number is +1 212 555
      My number's 415.
      My work number is 4 1 5
      It is +44 20
      You can text me at four one five
      My number is 1 800 555`,
    ends: `
      My number is 212 555 1234
      My number is 555 1234
      My number is two one two five five five one two three four
      My number is +1 212 555 1234
      My number is +49 171 1234567
      My mobile is 07911 123456
      My number is 1 800 555 1234
      Call me at 5.
      Call me at 10:30.
      Call me at ten thirty
      My phone is an iPhone 12
      My number has changed
      You have my number.
      Call me tomorrow.
      The area code is 212
      Please call me back.`,
  },
  spelling: {
    holds: `
      My name is Smith, S M I
      S-M-I-T
      It is spelled S.
      S as in Sam, M as in Mary
      J-O-H
      It's spelled with P
      B for Bravo
      B as in Boy
      Double L
      K A
      Alpha Bravo Charlie
      The code is X 7 K
      My last name is
      M for Mike, I for India`,
    ends: `
      My name is Smith, S M I T H
      My name is Jones. J-O-N-E-S.
      At 5 p m
      I saw it on T V
      Option B
      My name is Smith.
      I live in the U S
      You spelled it wrong
      Can you spell that?
      It is plan A.
      My name is Anna
      I work in L A
      Vitamin C`,
  },
  mail: {
    holds: `
      My email is john dot
      My email is john
      My email address is john smith
      My email is john dot smith at
      My email is john at example
      My email is john at example dot
      It's john.smith@example
      john@
      John dot smith at gmail
      My email address is j underscore
      My e-mail is info at
      My email's j s 12
      It is mary@example.
      The email address is`,
    ends: `
      My email is john at example dot com
      My email address is john.smith@example.com
      It's john@example.com.
      My email is not working
      My email is wrong.
      My email address is still the same
      I am at work
      Send me an email.
      I will be there at noon
      John dot smith at gmail dot com
      I did not get your email
      My email is info at parley dot co`,
  },
  hesitations: {
    holds: `
      Um
      Uhm...
      Let me think
      Let me think.
      Let me see.
      Hold on a second
      One moment please.
      Hmm
      I would like a table, um
      Just a second.
      Well
      Yes, so
      I'll just check my calendar
      Bear with me
      Give me a minute.
      How do I say this
      What was it again
      Let me get my card.
      You know
      I mean.
      Wait a second`,
    ends: `
      I'll get two tickets.
      I'll see you tomorrow.
      I'll think about it.
      I think so.
      All is well.
      Yes it is
      Let me know.
      I will wait.
      That was a great moment.
      I think about it every day.
      It works really well.
      No idea.
      I mean it.
      Hold my order.
      I like it`,
  },
  requests: {
    holds: `
      Could you please
      Can you
      Could you maybe
      Would you please.
      I would like to
      I would like to.
      I need
      I was wondering if
      Is there
      Do you have
      Can I
      I'm calling about
      Could you tell me please
      May I just
      Would it be possible to
      I'm looking for
      I want
      How much
      I have a question about
      I want a table and`,
    ends: `
      Could you help me?
      I would like a table for two.
      That is all I need.
      This is what I want.
      Yes please.
      Yes, I am.
      I told her.
      Can you call me back tomorrow.
      Please tell me.
      No thank you
      Do you deliver?
      I need a table for two
      So do I.
      I am calling about my order.
      If you could.`,
  },
  backchannels: {
    listens: `
      Mhm.
      Mm-hmm
      Uh-huh.
      Yeah, yeah.
      OK
      I see.
      All right.
      Okay, got it!
      Right.
      Of course.
      Makes sense.
      Understood.
      I know`,
    answers: `
      No.
      Stop
      Wait
      Yeah, but wait
      Okay, stop.
      What?
      right now
      Hold on.
      One moment
      Excuse me
      That is wrong
      Sorry`,
  },
  decisions: {
    accepted: `
      Yes.
      Yeah, sure
      Go ahead.
      Put them through
      No problem, put them through.
      Okay
      Of course
      Why not?
      Sure, connect me
      Yes, I'll take it.
      I accept.
      I don't mind, go ahead`,
    declined: `
      No.
      Nope
      Not now
      I can't right now
      I'm busy.
      Decline
      Maybe later.
      Sorry, no
      No, thank you.
      I don't want to
      Never`,
    undecided: `
      Who is it?
      What is it about?
      I don't know.
      I'm not sure
      Hello?
      Sorry, what was that?
      Who is calling?
      Could you repeat that?
      Pardon?
      One moment
      Let me think`,
  },
  greetings: {
    machines: `
      Please leave a message after the tone.
      You've reached the voice-mail of Sam.
      Leave your name and number.
      I will get back to you as soon as I can.
      The person you are calling is not available to take your call.
      Please record your message.
      This is Sam's answering machine.
      Your call has been forwarded to an automated voice messaging system.
      The mailbox is full.
      At the beep, leave me a message.
      The number you have dialed is not in service.
      Nobody is here, so talk after the beep.`,
    people: `
      I can't take your call right now, I am driving.
      Sorry, I can't come to the phone right now.
      I just got your voicemail, what is this about?
      She is not available, would you like to leave a message with me?
      I'm in a meeting, can you call me back?
      Hang on, one second please.
      Hello, this is Sam.
      Did you leave a message on my voicemail?
      I'm at work, what do you need?
      I can't talk, I'm with a customer.
      You have the wrong number.
      May I take a message?
      I never got your message, who is this?
      I was about to leave you a message.`,
  },
})
