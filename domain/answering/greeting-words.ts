/**
 * Phrases that distinguish machines from people, for each language that agents speak. Lists are texts with `|` between
 * their entries, in lower case and without punctuation.
 */
type GreetingWords = {
  /** Only a mailbox says these phrases. */
  voicemail: string
  /** Both a mailbox and a busy person say these phrases. The next words tell them apart. */
  excuse: string
  /**
   * A busy person says these phrases. They count even after an ambiguous phrase. Some people record them as a mailbox
   * greeting, so they alone do not prove that a person has answered.
   */
  busy: string
  /** Both a mailbox and a person at a business say these phrases. */
  ambiguous: string
  /** Only a person asks these questions. They count even after a long greeting. */
  person: string
  /** A phone menu or a phone with call screening says these phrases. The agent can talk to both. */
  conversing: string
}

const english: GreetingWords = {
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
}

const languages: Readonly<Record<string, GreetingWords>> = {
  en: english,
  de: {
    voicemail:
      'mailbox|anrufbeantworter|sprachbox|nach dem signalton|nach dem ton|nach dem piepton|hinterlassen sie|nachricht hinterlassen',
    excuse: 'nicht ans telefon|gerade nicht sprechen|gerade nicht telefonieren',
    busy: 'fahre gerade|beim autofahren|im meeting|im auto|in einer besprechung|in einem termin|bei der arbeit|rufen sie mich|ruf mich|moment bitte|einen moment|keine zeit',
    ambiguous: 'nicht erreichbar',
    person:
      'möchten sie eine nachricht|wie kann ich ihnen helfen|wie kann ich helfen|kann ich ihnen helfen|was kann ich für sie tun|wer ist da|wer spricht|worum geht es|worum gehts|falsch verbunden|haben sie mir|sie haben mir|hast du mir|du hast mir|soll ich etwas ausrichten',
    conversing: 'sagen sie ihren namen|grund ihres anrufs|drücken sie|bleiben sie in der leitung',
  },
  es: {
    voicemail:
      'buzón|buzon|contestador|deje su mensaje|deje un mensaje|deja un mensaje|deja tu mensaje|después de la señal|después del tono|tras la señal',
    excuse: 'no puedo atender|no puedo hablar|no puedo contestar',
    busy: 'estoy conduciendo|estoy manejando|en el coche|en el carro|estoy en una reunión|estoy ocupado|estoy ocupada|estoy trabajando|llámeme|llámame|un momento|un segundo',
    ambiguous: 'no está disponible',
    person:
      'quiere dejar|desea dejar|en qué puedo ayudar|en qué puedo ayudarle|en qué le puedo ayudar|en qué puedo servirle|de parte de quién|quién habla|me dejó un|me dejaste|me ha dejado|me llamó',
    conversing: 'diga su nombre|motivo de su llamada|pulse uno|pulse 1|marque uno|marque 1|oprima uno|no cuelgue',
  },
  fr: {
    voicemail:
      'messagerie|boîte vocale|répondeur|laissez un message|laissez votre message|laisser un message|après le bip|après le signal',
    excuse: 'ne peux pas vous répondre|ne peux pas vous parler|ne peux pas parler',
    busy: 'je conduis|au volant|en voiture|en réunion|suis occupé|suis occupée|au travail|rappelez moi|rappelle moi|un instant|une seconde|une minute',
    ambiguous: 'nest pas disponible|ne suis pas disponible|vous êtes bien chez',
    person:
      'voulez vous laisser|souhaitez vous laisser|comment puis je vous aider|que puis je faire pour vous|en quoi puis je vous aider|qui est à lappareil|cest de la part de qui|vous mavez|mavez vous|tu mas laissé|avez laissé un',
    conversing: 'dites votre nom|raison de votre appel|tapez 1|tapez un|appuyez sur|restez en ligne',
  },
  it: {
    voicemail:
      'segreteria telefonica|casella vocale|lasciare un messaggio|lasciate un messaggio|lasci un messaggio|dopo il segnale|dopo il bip|non è raggiungibile',
    excuse: 'non posso rispondere|non posso parlare',
    busy: 'sto guidando|sono in riunione|sono occupato|sono occupata|sto lavorando|mi richiami|richiamami|un momento|un attimo',
    ambiguous: 'non è disponibile',
    person:
      'vuole lasciare|desidera lasciare|come posso aiutarla|come posso esserle utile|in cosa posso aiutarla|chi parla|con chi parlo|mi ha lasciato|mi hai lasciato|ha lasciato un messaggio',
    conversing: 'dica il suo nome|motivo della chiamata|prema 1|prema uno|prema il tasto|resti in linea',
  },
  pt: {
    voicemail:
      'caixa postal|correio de voz|caixa de correio|deixe seu recado|deixe a sua mensagem|deixe sua mensagem|deixe uma mensagem|após o sinal|depois do sinal|após o bipe',
    excuse: 'não posso atender|não posso falar',
    busy: 'estou dirigindo|estou conduzindo|estou a conduzir|em reunião|estou ocupado|estou ocupada|estou trabalhando|me liga|me ligue|um momento|um segundo',
    ambiguous: 'não está disponível',
    person:
      'quer deixar|deseja deixar|gostaria de deixar|em que posso ajudar|como posso ajudar|posso ajudar|quem fala|quem está falando|você deixou|você me deixou|o senhor deixou|a senhora deixou|deixou me|me ligou',
    conversing:
      'diga seu nome|diga o seu nome|motivo da ligação|motivo da chamada|digite 1|prima 1|tecle 1|aguarde na linha',
  },
  nl: {
    voicemail:
      'voicemail|antwoordapparaat|spreek een bericht in|laat een bericht|laat uw bericht|bericht achterlaten|na de toon|na de piep',
    excuse: 'niet opnemen|niet praten|telefoon niet beantwoorden',
    busy: 'aan het rijden|zit in de auto|in een vergadering|ben bezig|aan het werk|bel me|belt u me|een moment|momentje',
    ambiguous: 'niet beschikbaar|niet bereikbaar|u spreekt met',
    person:
      'wilt u een|waarmee kan ik u helpen|hoe kan ik u helpen|kan ik u helpen|wat kan ik voor u doen|met wie spreek ik|heeft u mij|hebt u mij|u heeft mij|heeft u een bericht|hebt u een bericht|op mijn voicemail ingesproken|mijn voicemail ingesproken',
    conversing: 'zeg uw naam|reden van uw oproep|toets 1|toets een|kies 1|blijf aan de lijn',
  },
}

/**
 * Returns the kind of the most reliable phrase in the text. A person's question comes first: "do you want to leave a
 * message" contains a mailbox phrase too. Mailbox phrases come before menus, because a mailbox has menus too. A busy
 * person uses the same excuses as a mailbox, but no mailbox phrase. Null if the text has no known phrase. If the
 * language is unknown, the English phrases are used.
 */
export function greetingIn(text: string, language: string): keyof GreetingWords | null {
  const [base = ''] = language.toLowerCase().split(/[-_]/)
  const words = languages[base] ?? english
  const said = ` ${normalized(text)} `
  const has = (list: string) => list.split('|').some((phrase) => said.includes(` ${phrase} `))
  return byWeight.find((kind) => has(words[kind])) ?? null
}

const byWeight = ['person', 'voicemail', 'conversing', 'busy', 'ambiguous', 'excuse'] as const

const normalized = (text: string) =>
  text
    .toLowerCase()
    .replace(/['’\-]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
