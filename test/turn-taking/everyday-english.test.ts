import { checkEveryday } from './check.ts'

checkEveryday('en', {
  beginnings: `
    The number is two one two
    My number is area code four one five
    It’s five five five
    You can call me on 0 7 9
    The number on the card is 5500
    My debit card starts with 4111
    Long number is 4929
    My routing number is 021
    My phone number is (415)
    It's 415-555
    415-555
    my phone number is four one five, five five five
    So my number is, uh, 415
    My last name is Nguyen, N-G-U
    that is M A C K
    My surname is spelled O
    M as in Mike
    Email is sam at
    My email is sam underscore lee
    sam dot lee at
    s.lee@
    so it is sam, dot
    My address is 12
    Can I get a
    Could I have
    I would like to know
    Would it be okay to
    Could you possibly
    Can you maybe tell me
    I wanted to ask
    I just wanted to
    What time
    My name's
    Uh, so
    Erm
    Give me one second
    One sec
    Hang on a minute
    I'm thinking
    Let me just check
    Oh, what is it
    Let me find my card
    The confirmation code is A B
    My date of birth is the 4th of
    It is the third of
    my order number is
    my license plate is K A
    Policy number P 1 2
    Passport number is 12
    My extension is
    My flight number is B A
    The serial number is S N 4
    Expiry is 12
    Five five
    and then
    I think it was
    It's on
    My zip is 9 4 1
    Two hundred and`,
  sentences: `
    I need to cancel my appointment.
    My name is John Smith.
    I live at 12 Main Street.
    The meeting is at 3 p.m.
    I have two children.
    It was in 2019.
    I am 35 years old.
    About 20 minutes.
    Thank you very much.
    That works for me.
    No, that's all.
    Yes, that's right.
    I'd like a refund.
    What are your opening hours?
    Monday at nine thirty.
    Two pizzas please
    My order hasn't arrived.
    I want to speak to a human.
    Nothing else, thanks.
    Fifteen.
    Five.
    Yes I do.
    I do not know.
    It is for my mother.
    Tuesday the 5th of May.
    Table for six.
    Around 7:45.
    Tomorrow morning
    Yes, that is my number.
    My email hasn't changed.
    That sounds good.
    I called you yesterday.
    It is 25 degrees.
    In room 204.
    He is 6.
    The total was 49.99.
    I waited for an hour.
    I paid 20 dollars.
    On the 12th.
    Not really.
    Yes, please do.
    I have been waiting since Monday.
    I am a new customer.
    Hi, how are you?
    Hello.
    Good morning.
    I lost my PIN.
    Can I pay by card?
    My phone is broken.
    It starts at 10.
    We are four.
    One or two.
    Yes I can.
    I don't have one.
    I forgot it.
    Who is this?
    I think that is it.
    Okay thank you bye.
    I would ask him.
    The total is what it is.
    I can wait if you like.
    You can reach me any time.
    Let me check out.
    I will look it up later.
    Yes I can tell you.
    I already told you what I think.
    Can you tell me your name?
    No I did not ask.
    It is what it is.
    The answer is no.
    The house is big.
    My dog is sick.
    Thanks, bye.
    See you then.
    My car is a Volvo.
    The address is correct.
    My address changed.
    Our house is 12.
    It is at 9 a.m.
    Call me on my mobile.
    We met in May.
    I like both.
    Just the one.
    Sure, no problem.
    I got two emails.
    Double room, please.
    A single one.
    It was nice.
    That was it.
    My son is five.
    I was born in 1980.
    Flight BA 117.
    Sam at reception told me.
    The first one.
    Six one way tickets.`,
})
