/**
 * Phrases of the machines that answer a phone, in the languages of the voice loop. Lists are texts with `|` between their
 * entries, in lower case and without punctuation.
 */
type GreetingWords = {
  /** A mailbox says them. */
  voicemail: string
  /** A menu, or a phone that asks for its owner who calls: the agent can talk to them. */
  conversing: string
}

const english: GreetingWords = {
  voicemail:
    'voicemail|voice mail|voice mailbox|mailbox|leave a message|leave me a message|leave your message|leave your name|record your message|record a message|after the tone|at the tone|after the beep|at the beep|is not available|are not available|am not available|is unavailable|cant take your call|cannot take your call|cant come to the phone|cannot come to the phone|unable to take your call|unable to come to the phone|get back to you as soon|answering machine|you have reached|youve reached',
  conversing:
    'screening service|call screening|record your name|say your name|say why you are calling|reason for your call|why youre calling|press one|press two|press 1|press 2|press zero|press 0|stay on the line',
}

const languages: Readonly<Record<string, GreetingWords>> = {
  en: english,
  de: {
    voicemail:
      'mailbox|anrufbeantworter|sprachbox|nach dem signalton|nach dem ton|nach dem piepton|hinterlassen sie|nachricht hinterlassen|nicht erreichbar|zurzeit nicht erreichbar|im moment nicht erreichbar|nicht ans telefon|nicht ans telefon gehen',
    conversing: 'sagen sie ihren namen|grund ihres anrufs|drücken sie|bleiben sie in der leitung',
  },
  es: {
    voicemail:
      'buzón|buzon|contestador|deje su mensaje|deje un mensaje|deja un mensaje|deja tu mensaje|después de la señal|después del tono|tras la señal|no está disponible|no puedo atender',
    conversing: 'diga su nombre|motivo de su llamada|pulse uno|pulse 1|marque uno|marque 1|oprima uno|no cuelgue',
  },
  fr: {
    voicemail:
      'messagerie|boîte vocale|répondeur|laissez un message|laissez votre message|laisser un message|après le bip|après le signal|nest pas disponible|ne suis pas disponible|ne peux pas vous répondre',
    conversing: 'dites votre nom|raison de votre appel|tapez 1|tapez un|appuyez sur|restez en ligne',
  },
  it: {
    voicemail:
      'segreteria telefonica|casella vocale|lasciare un messaggio|lasciate un messaggio|lasci un messaggio|dopo il segnale|dopo il bip|non è disponibile|non è raggiungibile|non posso rispondere',
    conversing: 'dica il suo nome|motivo della chiamata|prema 1|prema uno|prema il tasto|resti in linea',
  },
  pt: {
    voicemail:
      'caixa postal|correio de voz|caixa de correio|deixe seu recado|deixe a sua mensagem|deixe sua mensagem|deixe uma mensagem|após o sinal|depois do sinal|após o bipe|não está disponível|não posso atender',
    conversing:
      'diga seu nome|diga o seu nome|motivo da ligação|motivo da chamada|digite 1|prima 1|tecle 1|aguarde na linha',
  },
  nl: {
    voicemail:
      'voicemail|antwoordapparaat|spreek een bericht in|laat een bericht|laat uw bericht|bericht achterlaten|na de toon|na de piep|niet bereikbaar|niet beschikbaar',
    conversing: 'zeg uw naam|reden van uw oproep|toets 1|toets een|kies 1|blijf aan de lijn',
  },
}

/** `voicemail` wins, because mailboxes have menus too. Null: the text has no such phrase. An unknown language gets the words of English. */
export function greetingIn(text: string, language: string): keyof GreetingWords | null {
  const [base = ''] = language.toLowerCase().split(/[-_]/)
  const { voicemail, conversing } = languages[base] ?? english
  const said = ` ${normalized(text)} `
  const has = (list: string) => list.split('|').some((phrase) => said.includes(` ${phrase} `))
  if (has(voicemail)) return 'voicemail'
  return has(conversing) ? 'conversing' : null
}

const normalized = (text: string) =>
  text
    .toLowerCase()
    .replace(/['’\-]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
