import type { LanguageWords } from './language-words.ts'

export const italian: LanguageWords = {
  turns: {
    backchannels:
      'sì|si|già|certo|esatto|esattamente|giusto|bene|va bene|capisco|ho capito|perfetto|daccordo|ah ecco|ecco|eh|ehm|naturalmente|ottimo|benissimo|proprio così|vero',
    unfinished:
      'e|ed|o|oppure|ma|però|perché|che|quando|mentre|come|dove|il|lo|la|i|gli|le|un|uno|una|mio|mia|miei|mie|tuo|tua|suo|sua|nostro|questo|questa|di|del|della|dei|a|al|alla|da|dal|dalla|in|nel|nella|con|su|sul|per|tra|fra|vorrei|voglio|può|ehm|cioè|allora|quindi|ho bisogno|volevo|potrebbe|avete|chiamo per|numero è|nome è|indirizzo è|si scrive|chiocciola|trattino',
  },
  agent: {
    fallback: 'Mi scusi, in questo momento non riesco a rispondere. Può ripetere?',
    toolLeadIn: 'Un momento, per favore.',
    screeningQuestion: 'Per accettare la chiamata, prema 1 o dica sì. Per rifiutarla, prema 2 o dica no.',
    screeningReason: 'Buongiorno. Ho una chiamata per lei.',
    summaryIntroduction: 'Il chiamante ha detto:',
  },
  decisions: {
    yes: 'sì|si|certo|certamente|accetto|daccordo|va bene|me lo passi|volentieri',
    no: 'no|non|rifiuto|occupato|occupata|più tardi',
  },
  greetings: {
    voicemail:
      'segreteria telefonica|casella vocale|lasciare un messaggio|lasciate un messaggio|lasci un messaggio|dopo il segnale|dopo il bip|non è raggiungibile',
    excuse: 'non posso rispondere|non posso parlare',
    busy: 'sto guidando|sono in riunione|sono occupato|sono occupata|sto lavorando|mi richiami|richiamami|un momento|un attimo',
    ambiguous: 'non è disponibile',
    person:
      'vuole lasciare|desidera lasciare|come posso aiutarla|come posso esserle utile|in cosa posso aiutarla|chi parla|con chi parlo|mi ha lasciato|mi hai lasciato|ha lasciato un messaggio',
    conversing: 'dica il suo nome|motivo della chiamata|prema 1|prema uno|prema il tasto|resti in linea',
  },
  transferRequests:
    'mi passi|mi passa|passarmi|mi trasferisca|trasferirmi|mi metta in contatto|parlare con|un operatore',
}
