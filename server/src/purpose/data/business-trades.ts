import type { Trade } from './trade-shape.ts';

/** What organisations buy to do their work. See `Trade` for the notation and its source. */
export const BUSINESS_TRADES: readonly Trade[] = [
  {
    id: 'cloud_hosting',
    family: 'technology',
    label: 'cloud and hosting',
    mcc: '7374, 4816',
    words:
      '~cloud; cloud storage; cloud server; cloud hosting; hosting; server; servers; vps; virtual machine; vm; ~compute; kubernetes; k8s; ~cluster; ~container; docker; object storage; s3; bucket; ~storage; ~backup; backups; database; postgres; mysql; redis; cdn; load balancer; load balancing; dns; domain name; domain renewal; ssl certificate; tls certificate; bandwidth; egress; gpu hours; gpu instance; serverless; lambda; ec2; ~instance; ~node; ~staging; uptime; ~monitoring; observability; ~logging; ~logs; incident alerting; ~platform; infrastructure; iaas; data center; datacenter; colocation; rechenzentrum; ~traffic; ~production; hébergement; alojamiento web; ~deploy; api gateway; ddos protection; ~firewall; ~volume; ~snapshot; block storage; devops',
    companies:
      'amazon web services; aws; google cloud; gcp; microsoft azure; azure; hetzner; ovh; ovhcloud; scaleway; digitalocean; linode; akamai; vultr; cloudflare; fastly; heroku; vercel; netlify; render.com; fly.io; railway.app; oracle cloud; ibm cloud; alibaba cloud; ionos; strato; rackspace; backblaze; wasabi; datadog; new relic; grafana labs; grafana; splunk; elastic.co; elasticsearch; ^sentry; pagerduty; opsgenie; mongodb; mongodb atlas; snowflake; databricks; supabase; neon.tech; planetscale; confluent; redis labs; hashicorp; namecheap; godaddy; gandi; porkbun; bunny.net; equinix; ^contabo; leaseweb; exoscale; infomaniak; upcloud; honeycomb.io; dynatrace; better stack; uptimerobot; cockroach labs; coreweave; lambda labs; runpod; digital realty; netcup; hostinger; bluehost; name.com; dreamhost; siteground; kinsta; wp engine; ^pantheon; platform.sh; hostgator; a2 hosting; ^gcore; bunnycdn; keycdn; imperva; vast.ai; paperspace; crusoe; nebius; upstash; ^elastic; newrelic; logz.io; sumo logic; statuspage; pingdom; letsencrypt; digicert; sectigo; globalsign; dnsimple; arvancloud; tencent cloud; huawei cloud; terraform cloud; docker inc; quay.io; circleci; travis ci; buildkite; ^sonar; sonarsource; snyk; crowdstrike; okta; auth0; tailscale; zscaler; snowflake computing; ^firebase; cloudinary; imgix; vonage video; agora.io; ^ably; ^pusher; onesignal; twilio segment; heap analytics; mixpanel; ^amplitude; posthog; rollbar; bugsnag; launchdarkly; statsig; split.io; ^airbrake; papertrail',
  },
  {
    id: 'model_access',
    family: 'technology',
    label: 'model and data interfaces',
    mcc: '7372',
    words:
      'llm; language model; inference; embeddings; ~tokens; api credits; api usage; model api; speech to text; text to speech; transcription; machine translation; ocr; geocoding; sms api; email api; ~prompt; fine-tuning; data feed; market data',
    companies:
      'openai; anthropic; mistral ai; ^cohere; hugging face; ^replicate; together ai; groq; perplexity; elevenlabs; deepl; assemblyai; deepgram; stability ai; midjourney; twilio; sendgrid; mailgun; postmark; vonage; messagebird; openrouter; mapbox; algolia; pinecone; serpapi; scale ai; google gemini; vertex ai; amazon bedrock; azure openai; ^xai; deepseek; qwen; ai21; aleph alpha; fireworks ai; deepinfra; baseten; ^modal; modal labs; novita; cerebras; sambanova; voyage ai; jina ai; weaviate; qdrant; zilliz; runway ml; runwayml; ^runway; pika labs; suno; leonardo ai; black forest labs; ^ideogram; rev.ai; gladia; speechmatics; whisper api; google maps platform; here technologies; tomtom; opencage; polygon.io; alpha vantage; bloomberg data; refinitiv; openweather; weatherapi; clearbit; apollo.io; people data labs; bright data; oxylabs; apify; scrapingbee; zenrows; firecrawl; tavily; ^exa; brave search api',
  },
  {
    id: 'software_subscriptions',
    family: 'technology',
    label: 'software and subscriptions',
    mcc: '5734, 5817, 7372',
    words:
      'software; saas; ~licence; ~license; software licence; software license; ~licences; ~licenses; ~seat; ~seats; ~plan; ~subscription; ~crm; erp; ~ide; design tool; project management tool; password manager; antivirus; office suite; ~workspace; plugin; mobile app; user accounts; version control; ci minutes; issue tracker; helpdesk software; e-signature; video conferencing; logiciel; lizenz; lizenzen; abonnement logiciel; accounting software; cad',
    companies:
      'github; gitlab; atlassian; jira; ^confluence; bitbucket; jetbrains; microsoft 365; office 365; microsoft; google workspace; slack; ^zoom; notion labs; ^notion; figma; ^sketch; adobe; creative cloud; canva; miro; asana; trello; monday.com; clickup; ^linear; airtable; zapier; ^make.com; dropbox; ^box; docusign; salesforce; hubspot; zendesk; freshworks; freshdesk; intercom; pipedrive; servicenow; workday; sap; oracle; autodesk; solidworks; 1password; lastpass; bitwarden; dashlane; ^okta; auth0; norton; mcafee; kaspersky; crowdstrike; sentinelone; teamviewer; grammarly; evernote; todoist; calendly; loom.com; webflow; squarespace; wix; wordpress; automattic; shopify; quickbooks; xero; lexware; datev; typeform; surveymonkey; qualtrics; tableau; mathworks; matlab; wolfram; jamf; snyk; sonarsource; postman; retool; vmware; citrix; red hat; suse; circleci; npm; docker inc; ^cursor; overleaf; sage accounting; freshbooks; lucidchart; basecamp; dassault systemes; ansys; netsuite; ^sage; ^intuit; lexoffice; sevdesk; zoho; odoo; personio; bamboohr; rippling; gusto; deel; remote.com; smartsheet; ^coda; wrike; teamwork.com; nordvpn; expressvpn; malwarebytes; bitdefender; eset; sophos; anydesk; ^parallels; ^canonical; ubuntu pro; sublime text; raycast; ^insomnia; wordpress.com; bigcommerce; woocommerce; magento; jotform; cal.com; ^gong; outreach.io; ^loom; riverside.fm; descript; ^otter; otter.ai; deepl pro; chatgpt; ^copilot; github copilot; cursor.com; anysphere; replit; ^windsurf; power bi; ^looker; metabase; alteryx; stripe billing; chargebee; recurly; ^paddle; fastspring; docsend; pandadoc; hellosign; adobe sign; ^ironclad; lever.co; greenhouse.io; ^workable; ^ashby; kajabi; ^teachable; thinkific; acuity scheduling; mindbody; toast pos; lightspeed; square pos; clio; practice fusion; epic systems; procore; buildertrend; servicetitan; ^jobber; housecall pro; ^samsara; motive technologies; fleetio; geotab; onshape; sketchup; rhino3d; unity technologies; unreal engine; blackmagic design; ^avid; ableton; native instruments; capture one; affinity serif; corel; foxit; winzip; nitro pdf; mendeley; zotero; endnote; spss; stata; graphpad; benchling; labarchives',
  },
  {
    id: 'computer_hardware',
    family: 'technology',
    label: 'computers and peripherals',
    mcc: '5045, 5732',
    words:
      'computer; computers; laptop; laptops; notebook computer; notebooks pc; desktop pc; workstation; ~monitor; monitors; ~display; keyboard; computer mouse; ~mouse; mice; headset; headsets; headphones; webcam; docking station; ~dock; docks; usb; usb-c; hdmi; displayport; ssd; hdd; nvme; hard disk; hard drive; hard drives; disks; ~ram; memory module; ddr4; ddr5; cpu; gpu; graphics card; motherboard; power supply unit; ups battery; ~nas; router; routers; network switch; ethernet; cat6; cat6a; cat7; patch cable; patch cables; patch panel; sfp; access point; wifi; printer; printers; scanner; tablet; tablets; smartphone; ~charger; ~adapter; ~cable; cables; peripherals; raspberry pi; server rack; rack unit; thin client; ~projector; bildschirm; tastatur; maus; drucker; rechner; ordinateur; clavier; ~écran; portátil; ordenador; teclado; power bank; barcode scanner; kvm; thunderbolt',
    companies:
      'dell; lenovo; hewlett packard; hp inc; ^hp; asus; acer; logitech; jabra; poly inc; yealink; samsung electronics; samsung; lg electronics; benq; eizo; intel; amd; nvidia; seagate; western digital; ^crucial; kingston; sandisk; synology; qnap; ubiquiti; cisco; netgear; tp-link; juniper networks; mikrotik; ^anker; belkin; apc; supermicro; bechtle; cdw; insight direct; computacenter; cancom; cyberport; notebooksbilliger; ^alternate; mindfactory; newegg; micro center; b&h photo; best buy; mediamarkt; ^saturn; fnac; currys; microsoft; reichelt; conrad electronic; digitec; brack.ch; ^epson; ^brother; kyocera; zebra technologies; raspberry pi; framework computer; apple; apple store; ^arp; misco; ^arlo; corsair; ^lexar; micron; ^wd; fujitsu; razer; ^msi; ^gigabyte; asrock; nzxt; be quiet; noctua; cooler master; thermaltake; steelseries; hyperx; sennheiser; plantronics; ^poly; viewsonic; philips monitors; iiyama; ^canon; ^xerox; ricoh; konica minolta; lexmark; oki data; honeywell scanners; datalogic; toshiba; panasonic toughbook; system76; tuxedo computers; arduino; adafruit; sparkfun; pimoroni; best buy business; scan computers; overclockers uk; ebuyer; box.co.uk; ldlc; materiel.net; rue du commerce; conrad; distrelec; brack; coolblue; azerty; megekko; alza; komplett; dustin; proshop; elgiganten; pc componentes; mediaworld; unieuro; pcspecialist; ^xma; softcat; shi international; connection inc; ^zones; ^pcm; ingram micro; td synnex; also holding; wd store; crucial memory; lacie; buffalo technology; ^drobo; eaton; vertiv; cyberpower; startech; ugreen; cable matters; aruba networks; ^ruckus; fortinet; palo alto networks; watchguard; sonicwall; draytek; ^avm; fritz; zyxel; d-link; tenda; wortmann; terra',
  },
  {
    id: 'apple_devices',
    family: 'technology',
    label: 'Apple devices',
    mcc: '5732',
    words: 'macbook; imac; mac mini; mac studio; iphone; ipad; airpods; apple watch; magsafe',
    companies: 'apple; apple store; apple inc; apple distribution',
  },
  {
    id: 'telecom',
    family: 'technology',
    label: 'telephone and internet lines',
    mcc: '4812, 4814',
    words:
      'phone contract; phone contracts; mobile contract; mobile plan; sim card; sim cards; esim; roaming; landline; broadband; fibre line; fiber line; internet line; internet bill; phone bill; voip; telefon; handyvertrag; ~mobile; data plan',
    companies:
      'vodafone; t-mobile; deutsche telekom; telekom; ^o2; telefonica; verizon; at&t; comcast; xfinity; spectrum; ^orange; bouygues telecom; sfr; swisscom; sunrise communications; salt mobile; kpn; ziggo; bt group; british telecom; sky broadband; movistar; tim italia; telia; telenor; tele2; proximus; airtel; reliance jio; telstra; optus; rogers; bell canada; 1&1; freenet mobile; airalo; starlink; three uk; ee limited; giffgaff; virgin media; talktalk; plusnet; bt business; sky mobile; cricket wireless; mint mobile; us cellular; charter communications; cox communications; frontier communications; lumen technologies; centurylink; windstream; at&t wireless; telus; videotron; shaw communications; freedom mobile; congstar; 1und1; m-net; netcologne; a1 telekom; ^magenta; drei austria; ^salt; wingo; ^free; free telecom; wind tre; fastweb; iliad; vivo brasil; ^claro; tigo; ^digi; orange polska; play polska; t-mobile us; telmex; singtel; starhub; ntt docomo; softbank; kddi; zadarma; sipgate; ringcentral; ^8x8; dialpad; aircall; ^grasshopper; google voice; zoom phone; openphone; ^skype; placetel; viasat; hughesnet; ^iridium; inmarsat; holafly; saily',
  },
  {
    id: 'advertising',
    family: 'media_and_marketing',
    label: 'advertising',
    mcc: '7311',
    words:
      'ads; advert; adverts; advertising; advertisement; ad spend; ~campaign; paid search; paid social; ppc; sponsored post; sponsored posts; ~impressions; ~clicks; cpc; cpm; retargeting; remarketing; banner ads; billboard; ~influencer; newsletter sponsorship; media buying; lead generation; keyword bids; display ads; video ads; anzeige; anzeigen; werbung; ~kampagne; publicité; publicidad; pinterest ads; radio spot; ~marketing; promoted pins; carousel ads; ~creative; audience targeting',
    companies:
      'google ads; adwords; meta ads; facebook ads; facebook; meta platforms; ^meta; instagram; linkedin ads; linkedin marketing; linkedin; tiktok ads; tiktok; tiktok for business; x ads; twitter; snap inc; snapchat; pinterest; reddit ads; reddit; microsoft advertising; bing ads; amazon ads; amazon advertising; criteo; ^taboola; outbrain; quora ads; spotify advertising; the trade desk; adroll; yelp ads; jcdecaux; ströer; clear channel; podcastads; google ireland; acast; applovin; google; lamar advertising; outfront media; stroer; global outdoor; capterra; software advice; getapp; ^g2; trustpilot; trustradius; nextdoor; indeed sponsored; baidu ads; yandex direct; naver ads; line ads; kakao; apple search ads; unity ads; ironsource; ^adjust; appsflyer; mediamath; adform; teads; smartly.io; stackadapt; basis technologies; viant; xandr; magnite; pubmatic; index exchange; revcontent; mgid; propellerads; carbon ads; ethicalads; buysellads; podcorn; audioboom; iheartmedia; sirius xm; nielsen; comscore; doubleverify; integral ad science; google marketing platform; dv360; walmart connect; instacart ads; etsy ads; ebay ads; hulu ads; roku advertising; youtube ads; threads ads; bluesky; x corp; ^x; snapchat ads; pinterest ads; quora; stack overflow advertising; capterra ads; spiceworks; techtarget; demandbase; 6sense; rollworks; ^terminus; mntn; vibe.co',
  },
  {
    id: 'marketing_tools',
    family: 'media_and_marketing',
    label: 'marketing tools and media production',
    mcc: '7311, 7333',
    words:
      'newsletter; email marketing; seo; keyword research; stock photo; stock photos; stock image; stock footage; social media scheduling; landing page; ~flyer; ~flyers; brochure; ~poster; press release; copywriting; photo shoot; video production; graphic design; logo design; ~branding; market research; roll-up banner; merch; promotional items; give-aways; giveaways',
    companies:
      'mailchimp; klaviyo; brevo; hootsuite; ^buffer; semrush; ahrefs; ^moz; sprout social; shutterstock; getty images; istock; adobe stock; unsplash; envato; vistaprint; moo print; flyeralarm; pr newswire; cision; constant contact; activecampaign; convertkit; marketo; similarweb; hotjar; canva pro; later.com; planoly; loomly; sendinblue; mailerlite; getresponse; campaign monitor; drip.com; omnisend; beehiiv; substack; ghost pro; kit.com; instantly.ai; lemlist; hunter.io; zoominfo; seamless.ai; lusha; cognism; surfer seo; clearscope; majestic seo; screaming frog; spyfu; serpstat; brandwatch; ^meltwater; talkwalker; mention.com; buzzsumo; unbounce; instapage; leadpages; optimizely; ^vwo; crazy egg; fullstory; depositphotos; dreamstime; alamy; 123rf; pond5; artlist; epidemic sound; storyblocks; motion array; audiojungle; freepik; noun project; printful; printify; sticker mule; ^moo; saxoprint; onlineprinters; wir machen druck; printi; solopress; instantprint; printed.com; helloprint; pixartprinting; drukwerkdeal; gelato; 4imprint; customink; teespring; spreadshirt; exaprint; business wire; globe newswire; prweb',
  },
  {
    id: 'office_supplies',
    family: 'office',
    label: 'office supplies',
    mcc: '5111, 5943',
    words:
      'office supplies; stationery; printer paper; copy paper; copier paper; ~paper; a4; letter paper; ~pen; ~pens; ballpoint; ballpoints; pencil; pencils; marker pens; markers; highlighter; highlighters; stapler; staples; paper clips; ~binder; binders; folders; ~folder; envelope; envelopes; sticky notes; post-it; post-its; notepad; notepads; toner; ink cartridge; ink cartridges; ~cartridge; label maker; whiteboard; flipchart; ~labels; shredder; hole punch; lever arch; desk organiser; desk organizer; laminating; laminator; adhesive tape; scissors; calendar refill; büromaterial; ~papier; kopierpapier; ~ordner; kugelschreiber; stifte; umschläge; druckerpatronen; fournitures de bureau; stylo; papeterie; material de oficina; papelería; bolígrafos; kantoorartikelen; whiteboard markers; index cards; clipboards; rubber bands; desk lamp; ~notebook',
    companies:
      '^staples; office depot; officemax; viking direct; ^viking; lyreco; otto office; bruneau; ^quill; w.b. mason; pilot pen; bic; faber-castell; staedtler; leitz; ^avery; 3m; ^brother; ryman; paperchase; mcpaper; manutan; böttcher; bueroshop24; rajapack; uline; kaiser+kraft; ^pilot; pentel; uni mitsubishi pencil; zebra pens; stabilo; schneider schreibgeräte; pelikan; lamy; moleskine; leuchtturm; rhodia; clairefontaine; oxford paper; navigator paper; hewlett packard paper; double a; mondi; sappi; ^upm; esselte; ^durable; fellowes; rexel; dymo; casio; texas instruments; rapesco; ^tesa; scotch tape; ^uhu; pritt; herlitz; brunnen; hamelin; exacompta; ^jpc; bureau vallee; top office; office discount; printus; schäfer shop; kaut-bullinger; euroffice; zoro office; grand & toy; officeworks; poundland stationery; whsmith; the works; cult pens; jetpens; muji; avery zweckform; 123ink; ldproducts; tonerpartner; prindo; inkjet wholesale; cartridge people; cartridge world',
  },
  {
    id: 'office_furniture',
    family: 'office',
    label: 'furniture',
    mcc: '5021, 5712',
    words:
      'furniture; office chair; office chairs; chair; chairs; standing desk; ~desk; desks; cabinet; cabinets; shelving; bookshelf; ~shelf; sofa; couch; meeting table; möbel; bürostuhl; schreibtisch; regal; meuble; mobilier; muebles; meubels; sideboard; armchair; wardrobe; locker; lockers',
    companies:
      'ikea; herman miller; steelcase; vitra; haworth; wayfair; usm; xxxlutz; knoll; humanscale; flexispot; autonomous.ai; crate and barrel; west elm; ashley furniture; maisons du monde; conforama; kinnarps; wilkhahn; interstuhl; sedus; ^bene; könig + neurath; ceka; assmann; ^dauphin; ^hag; flokk; teknion; hon company; allsteel; kimball; okamura; ^autonomous; uplift desk; vari; varidesk; ^fully; ergotron; secretlab; hermanmiller; made.com; ^habitat; jysk; kave home; roche bobois; la-z-boy; raymour & flanigan; rooms to go; bob s discount furniture; otto; home24; höffner; segmüller; poco; ^roller; mömax; möbel pfister; micasa; lipo; kwantum; leen bakker; bisley; dams furniture; viking furniture',
  },
  {
    id: 'cleaning_supplies',
    family: 'office',
    label: 'cleaning and hygiene supplies',
    mcc: '2842, 7349',
    words:
      'cleaning supplies; cleaning products; cleaner spray; detergent; ~soap; hand soap; toilet paper; paper towels; kitchen roll; trash bags; bin liners; bin bags; disinfectant; sanitizer; sanitiser; mop; broom; dishwasher tablets; washing powder; ~bleach; descaler; ~sponge; sponges; reinigungsmittel; putzmittel; toilettenpapier; müllbeutel; waschmittel; schoonmaakmiddel; wasmiddel; keukenrol; küchenrolle; spülmittel; produits ménagers; limpieza',
    companies:
      'ecolab; kärcher; vileda; diversey; clorox; procter & gamble; ^tork; cintas; initial hygiene; henkel; unilever professional; reckitt; domestos; cillit bang; method products; ecover; seventh generation; sc johnson; rubbermaid; kimberly-clark; essity; jangro; bunzl; nisbets cleaning; jan-pro; servicemaster; rentokil initial; aramark uniform; unifirst; elis; ^cws; mewa; berendsen; alsco; hagleitner; tana chemie; dr schnell; buzil; nilfisk; tennant; numatic; taski; sealed air; swish hygiene; ^zep; gojo; purell; dettol; lysol; febreze; swiffer; scotch-brite; frosch',
  },
  {
    id: 'flights',
    family: 'travel',
    label: 'flights',
    mcc: '3000-3299, 4511',
    words:
      'flight; flights; airfare; plane ticket; airline; airline ticket; checked bag; checked baggage; baggage; boarding; seat reservation; economy class; business class; first class; stopover; layover; round trip; one-way; flug; flüge; vol aller-retour; vuelo; vuelos; vlucht; rebooking fee; airport; flughafen; luggage',
    companies:
      'lufthansa; swiss international; austrian airlines; air france; klm; british airways; easyjet; ryanair; wizz air; eurowings; iberia; vueling; tap air portugal; sas; scandinavian airlines; norwegian air; finnair; lot polish; emirates; qatar airways; etihad; turkish airlines; delta air lines; ^delta; united airlines; american airlines; southwest airlines; jetblue; alaska airlines; air canada; westjet; qantas; singapore airlines; cathay pacific; ^ana; japan airlines; korean air; ita airways; aer lingus; ^condor; transavia; icelandair; latam; avianca; ^indigo; air india; spirit airlines; frontier airlines; brussels airlines; air new zealand; lufthansa group; discover airlines; tuifly; sunexpress; pegasus airlines; aegean; olympic air; air serbia; croatia airlines; tarom; blue air; jet2; tui airways; loganair; air europa; volotea; luxair; air dolomiti; ^neos; smartwings; airbaltic; play airlines; sas airlines; wideroe; level airlines; french bee; corsair; air caraibes; allegiant air; hawaiian airlines; sun country; breeze airways; porter airlines; flair airlines; aeromexico; volaris; viva aerobus; copa airlines; ^gol; ^azul; ^jal; asiana; eva air; china airlines; china southern; china eastern; air china; thai airways; vietnam airlines; vietjet; airasia; ^scoot; cebu pacific; garuda; malaysia airlines; indigo airlines; ^vistara; jetstar; virgin australia; ethiopian airlines; kenya airways; south african airways; egyptair; royal air maroc; saudia; flydubai; air arabia; gulf air; oman air; el al; skyscanner; kiwi.com; google flights; opodo; edreams; swiss; swiss air lines; heathrow express',
  },
  {
    id: 'rail_and_coach',
    family: 'travel',
    label: 'trains and coaches',
    mcc: '4112, 4131',
    words:
      'train; trains; train ticket; rail; rail pass; railway; coach ticket; bus ticket; second class; bahn; bahncard; bahnticket; zug; zugfahrt; sitzplatz; billet de train; gare; tren; trein; ~metro; subway ticket; ~tram; transit pass; public transport; ferry; ferries; intercity',
    companies:
      'deutsche bahn; db vertrieb; db fernverkehr; sncf; eurostar; thalys; trenitalia; italo; renfe; öbb; oebb; sbb; cff; ns international; nederlandse spoorwegen; amtrak; via rail; trainline; omio; flixbus; flixtrain; national express; megabus; greyhound; lner; avanti west coast; great western railway; pkp intercity; dsb; ^vy; tfl; transport for london; stena line; dfds; japan rail; bvg; mvv; ratp; rhein-main-verkehrsverbund; go-ahead; ^southeastern; south western railway; thameslink; scotrail; northern rail; transpennine express; crosscountry; east midlands railway; greater anglia; ^c2c; gatwick express; hull trains; grand central rail; ^lumo; ^stagecoach; arriva; firstgroup; irish rail; iarnrod eireann; translink; ouigo; ^ter; thello; ntv italo; iryo; avlo; cp comboios; rede expressos; alsa; eurolines; blablacar bus; ^blablacar; regiojet; leo express; ceske drahy; ^mav; ^pkp; ^sj; vr group; vy tog; go-ahead nordic; mtrx; ^nsb; ^rhb; ^bls; zentralbahn; postauto; westbahn; db regio; metronom; ^hvv; ^rmv; ^vrr; ^vbb; ^kvb; navigo; stib; de lijn; ^gvb; ^ret; ov-chipkaart; ^mta; bart; caltrain; metrolink; mbta; septa; wmata; brightline; coach usa; peter pan; trailways; bolt bus; eurail; interrail; raileurope; rail europe; scandlines; color line; viking line; tallink silja; brittany ferries; p&o ferries; irish ferries; grimaldi; moby lines; corsica ferries; bc ferries; washington state ferries; jr east; jr central; jr west; ^ktx; korail; via rail canada',
  },
  {
    id: 'lodging',
    family: 'travel',
    label: 'hotels and lodging',
    mcc: '3500-3999, 7011',
    words:
      'hotel; hotels; hostel; guesthouse; guesthouses; guest house; ~inn; motel; lodging; accommodation; overnight stay; ~nights; ~night; check-in; bed and breakfast; b&b; serviced apartment; ~room; ~rooms; double room; single room; unterkunft; übernachtung; ~zimmer; ~pension; chambre; hébergement hôtel; habitación; hotelkamer',
    companies:
      'booking.com; hotels.com; expedia; agoda; trivago; hrs; marriott; hilton; hyatt; ihg; holiday inn; intercontinental; accor; novotel; ibis; mercure; sofitel; motel one; premier inn; travelodge; best western; radisson; nh hotels; scandic; melia; meininger; b&b hotels; hampton inn; wyndham; choice hotels; four seasons; ritz-carlton; citizenm; moxy; leonardo hotels; sheraton; westin; courtyard; citadines; hostelworld; premier classe; ramada; steigenberger; maritim; lindner; kempinski; choice privileges; hotel engine; hoteltonight; trip.com; priceline; a&o hostels; generator hostels; ^yha; jugendherberge; motel 6; super 8; days inn; la quinta; comfort inn; quality inn; econo lodge; red roof; drury hotels; omni hotels; loews hotels; kimpton; fairmont; swissotel; pullman; ^adagio; aparthotel adagio; staycity; ^numa; ^limehome; ^sonder; zoku; 25hours; ruby hotels; dorint; a-rosa; prizeotel; holiday inn express; crowne plaza; hotel indigo; ^doubletree; embassy suites; homewood suites; residence inn; courtyard by marriott; fairfield inn; springhill suites; ^aloft; w hotels; st regis; ritz carlton; jw marriott; le meridien; renaissance hotels; park inn; park plaza; ^clarion; first hotels; strawberry hotels; thon hotels; elite hotels; cabinn; wakeup copenhagen; ^campanile; kyriad; premiere classe; b&b hotel; formule 1; ibis styles; ibis budget; eurostars; ^barcelo; ^riu; iberostar; catalonia hotels; ac hotels; vincci; vip executive; pestana; nhow; van der valk; fletcher hotels; ^bastion; ^postillion; the hoxton; yotel; z hotels; ^leonardo; jurys inn; maldron; clayton; macdonald hotels; village hotels; malmaison; toyoko inn; apa hotel; super hotel; ^oyo; treebo; taj hotels; oberoi; shangri-la; mandarin oriental; peninsula hotels; rydges; accor hotels; quest apartments',
  },
  {
    id: 'private_lodging',
    family: 'travel',
    label: 'private holiday flats',
    mcc: '7011',
    words:
      'holiday flat; holiday apartment; vacation rental; holiday home; ferienwohnung; ferienhaus; entire apartment; homestay',
    companies:
      'airbnb; vrbo; fewo-direkt; novasol; wimdu; couchsurfing; homeaway; 9flats; interhome; traum-ferienwohnungen; casamundo; belvilla; ^plum guide; onefinestay; homestay.com; atraveo; e-domizil; holidu; gites de france; abritel; landal; center parcs; roompot; ^sykes; sykes holiday cottages; cottages.com; hoseasons; snaptrip; vacasa; evolve vacation',
  },
  {
    id: 'local_transport',
    family: 'travel',
    label: 'taxis and transfers',
    mcc: '4121',
    words:
      'taxi; taxis; cab; airport transfer; ~transfer; transfers; shuttle; chauffeur; ride-hailing; airport ride; ~ride; minibus; taxi fare; limousine service',
    companies:
      'uber; lyft; ^bolt; freenow; free now; cabify; ^grab; ^gett; didi; blacklane; taxi; taxi.eu; ^curb; ola cabs; welcome pickups; suntransfers; ^tier; ^lime; ^voi; nextbike; careem; gojek; curb mobility; sixt ride; addison lee; taxi deutschland; tier mobility; ^bird; ^dott; call a bike; citi bike; lyft bikes; santander cycles; moia; miles mobility; share now; ^via; yellow cab; carey limousine; ^wheely; mears transportation; supershuttle; hoppa; mozio; flibco',
  },
  {
    id: 'car_rental',
    family: 'travel',
    label: 'rental cars',
    mcc: '3351-3500, 7512',
    words:
      'rental car; rental cars; car rental; car hire; hire car; mietwagen; location de voiture; alquiler de coche; huurauto; van rental; van hire; estate car; truck rental; car sharing; rent a car; compact car',
    companies:
      'sixt; hertz; europcar; avis; budget rent a car; ^enterprise; enterprise rent-a-car; alamo; national car rental; thrifty; dollar rent; share now; miles mobility; zipcar; turo; getaround; buchbinder; starcar; goldcar; u-haul; ^ryder; ^penske; dollar rent a car; ok mobility; centauro; record go; green motion; drivy; cambio; flinkster; stadtmobil; greenwheels; mywheels; snappcar; rentalcars.com; billiger-mietwagen; check24 mietwagen; auto europe; sunnycars; holiday autos; penske truck; carvertical; movida; localiza; orix rent a car; toyota rent a car; times car; fox rent a car; sixt share; ald automotive; leaseplan; arval; athlon; ayvens; alphabet fuhrparkmanagement',
  },
  {
    id: 'travel_agency',
    family: 'travel',
    label: 'travel booking',
    mcc: '4722',
    words:
      '~trip; ~trips; business trip; business travel; travel; ~itinerary; reise; dienstreise; dienstreisen; geschäftsreise; voyage d affaires; viaje de negocios; zakenreis; visa fee; travel insurance; esta',
    companies:
      'expedia; kayak; skyscanner; opodo; edreams; priceline; travelperk; navan; concur; amex gbt; bcd travel; cwt; egencia; trip.com; orbitz; travelocity; getyourguide; viator; flight centre; der touristik; perk; tripactions; american express gbt; amex global business travel; carlson wagonlit; fcm travel; corporate traveller; perk.com; ^lanes & planes; comtravo; klook; tiqets; lastminute.com; thomas cook; dertour; aldiana; fti touristik; check24; ^hrg; key travel; stuart travel; sap concur; amadeus; ^sabre; travelport; makemytrip; cleartrip; rakuten travel; ^jtb; his travel; diversity travel; ian allan travel; vfs global; tls contact; cibt visas; visahq; ivisa',
  },
  {
    id: 'holidays',
    family: 'entertainment',
    label: 'private holidays',
    mcc: '4411, 4722',
    words:
      'holiday; holidays; vacation; all inclusive; cruise; cruises; beach resort; spa weekend; honeymoon; urlaub; pauschalreise; vacances; vacaciones; vakantie; timeshare; theme park; safari; ski pass; ski trip; weekend getaway; sunbed; family trip',
    companies:
      'tui; neckermann; thomas cook; jet2holidays; jet2; club med; center parcs; royal caribbean; carnival cruise; msc cruises; aida; costa cruises; disney parks; disneyland; disney world; universal studios; legoland; europa-park; sandals resorts; lastminute.com; ltur; alltours; corendon; sunweb; landal',
  },
  {
    id: 'vehicle_upkeep',
    family: 'vehicles',
    label: 'vehicles, fuel and upkeep',
    mcc: '5511, 5533, 5541, 7538',
    words:
      'fuel; petrol; diesel; gasoline; ev charging; car wash; car repair; garage repair; tyre; tyres; tires; brake pads; ~oil change; windscreen; ~parking; parking fee; toll; tolls; motorway vignette; vehicle inspection; spare parts car; autowerkstatt; tanken; benzin; reifen; essence; péage; gasolina; van lease; car lease; leasing car; towing; adblue; fleet card; mot test; car insurance; ~fleet; windshield; e-bike',
    companies:
      '^shell; bp; esso; exxon; exxonmobil; chevron; texaco; aral; totalenergies; jet tankstellen; repsol; eni station; omv; circle k; ionity; enbw mobility; tesla supercharger; chargepoint; fastned; pep boys; jiffy lube; autozone; o reilly auto; napa auto; halfords; atu; euromaster; vergölst; michelin; bridgestone; continental tyres; goodyear; easypark; parkmobile; paybyphone; apcoa; q-park; adac; dekra; tüv; toll collect; volkswagen; mercedes-benz; bmw; audi; toyota; ford; renault; peugeot; tesla; dkv; uta edenred; kwik fit; carglass; continental reifen; pirelli; dunlop; hankook; nokian; a.t.u; pit stop; pitstop; autoglass; safelite; belron; norauto; feu vert; speedy france; midas; valvoline; ^firestone; advance auto parts; o reilly auto parts; napa auto parts; rockauto; carparts.com; autodoc; kfzteile24; mister auto; ^oscaro; gsf car parts; euro car parts; bosch car service; mobil; castrol; liqui moly; ^avia; ^q8; cepsa; ^galp; ^eni; agip; sunoco; marathon petroleum; phillips 66; valero; conoco; citgo; petro-canada; ^husky; fleetcor; ^wex; electrify america; evgo; allego; plugsurfing; pod point; bp pulse; shell recharge; ewe go; parkopedia; ringgo; justpark; indigo parking; contipark; spothero; parkwhiz; tuv sud; aa plc; ^rac; ^aaa; ats euromaster; stihl vehicles; opel; citroen; honda; nissan; hyundai; ^kia; skoda; ^seat; volvo; iveco; man truck; ^daf; scania; harley-davidson; piaggio; yamaha motor; vespa; gogoro',
  },
  {
    id: 'groceries',
    family: 'food',
    label: 'food and groceries',
    mcc: '5411, 5422, 5441, 5451, 5462, 5499',
    words:
      'food; groceries; grocery; produce; vegetables; veg; fruit; fruits; meat; beef; pork; chicken; lamb; poultry; sausage; sausages; ham; bacon; steak; fish; seafood; salmon; tuna; halibut; cod; trout; shrimp; prawns; mussels; oysters; dairy; milk; butter; cheese; ~cream; creme fraiche; yogurt; yoghurt; ricotta; mozzarella; eggs; egg; bread; baguette; buns; flour; semolina; yeast dough; sugar; salt; ~pepper; spices; herbs; basil; olive oil; canola; cooking oil; vinegar; rice; pasta; noodles; lentils; ~beans; chickpeas; tomatoes; tomato; potatoes; potato; onions; onion; garlic; carrots; celery; lettuce; salad; mushrooms; avocado; ~apples; apple juice; bananas; lemons; ~oranges; ~berries; strawberries; chocolate; snacks; snack; cookies; biscuits; cereal; oats; ~honey; ~jam; coffee beans; coffee; tea bags; ~tea; juice; mineral water; soft drinks; lemonade; frozen food; dry goods; ingredients; lebensmittel; gemüse; obst; fleisch; fisch; käse; milch; brot; wurst; eier; mehl; getränke; légumes; viande; poisson; fromage; ~pain; lait; farine; épicerie; verduras; fruta; carne; pescado; queso; leche; pan; harina; boodschappen; groente; vlees; vis; kaas; melk; brood; ~kip; zalm; peanut butter; tofu; microgreens; truffles; stock cubes; ~broth; ketchup; mustard; mayonnaise; bulgur; couscous; pizza dough; ~pastry',
    companies:
      'sysco; us foods; gordon food service; performance food group; restaurant depot; metro cash; metro ag; ^metro; transgourmet; chefs culinar; ^brakes; bidfood; whole foods; trader joe s; kroger; safeway; albertsons; publix; wegmans; h-e-b; aldi; lidl; rewe; edeka; kaufland; penny markt; netto; carrefour; auchan; leclerc; intermarché; monoprix; franprix; mercadona; ^dia; esselunga; coop; migros; denner; ^spar; billa; hofer; albert heijn; ^jumbo; plus supermarkt; delhaize; colruyt; tesco; sainsbury s; asda; morrisons; waitrose; ocado; marks & spencer food; instacart; freshdirect; ^picnic; gorillas; ^flink; getir; hellofresh; blue apron; loblaws; sobeys; woolworths; coles; ^ica; rema 1000; ^kiwi; biedronka; food lion; nespresso; lavazza; danone; nestlé; tyson foods; barilla; starkist; oatly; bofrost; alnatura; ^booker; metro cash & carry; makro; selgros; rungis express; edeka foodservice; hanos; sligro; bidcorp; saladino; costco business; sams club; ^heb; meijer; giant food; stop & shop; shoprite; hy-vee; winn-dixie; ^sprouts; ^penny; ^real; ^globus; tegut; dm-drogerie; denns; basic bio; volg; interspar; mpreis; co-op food; iceland foods; m&s food; e.leclerc; intermarche; casino supermarche; ^picard; biocoop; grand frais; eroski; consum; el corte ingles supermercado; alcampo; conad; coop italia; eurospin; ^dirk; gousto; marley spoon; abel & cole; riverford; farm drop; illy; segafredo; tchibo; jacobs kaffee; dallmayr; starbucks coffee; costa coffee; ^nestle; unilever food; kraft heinz; general mills; kellogg s; mondelez; mars wrigley; ferrero; lindt; barry callebaut; callebaut; valrhona; dr oetker; de cecco; bonduelle; mccain; frosta; iglo; birds eye; tyson; arla; lactalis; müller milch; yakult; coca-cola; pepsico; red bull; monster energy; gerolsteiner; evian; san pellegrino; frito-lay; kikkoman; huel; webstaurantstore; king arthur baking; puratos; bako; bakels; bakery bits; baldwin s foods',
  },
  {
    id: 'nuts',
    family: 'food',
    label: 'nuts',
    mcc: '5441',
    words:
      'nuts; cashew; cashews; almond; almonds; hazelnut; hazelnuts; walnut; walnuts; pecan; pecans; pistachio; pistachios; peanut; peanuts; macadamia; marzipan; nutella; praline; frangipane; nüsse; noten; pinda; noix; nueces; trail mix',
    companies: 'planters; ültje; blue diamond',
  },
  {
    id: 'pork',
    family: 'food',
    label: 'pork',
    mcc: '5422',
    words:
      'pork; bacon; ham; prosciutto; chorizo; pancetta; salami; schinken; speck; schweinefleisch; varkensvlees; ham hock; pulled pork; jamón; lardons; bratwurst; spare ribs pork; gammon',
    companies: '',
  },
  {
    id: 'fish',
    family: 'food',
    label: 'fish and seafood',
    mcc: '5422',
    words:
      'fish; seafood; salmon; tuna; cod; trout; herring; mackerel; sardines; anchovies; prawns; shrimp; shrimps; crab; lobster; mussels; oysters; squid; octopus; scallops; sushi; caviar; fisch; lachs; garnelen; poisson; saumon; crevettes; pescado; marisco; vis; zalm',
    companies: '',
  },
  {
    id: 'sweets',
    family: 'food',
    label: 'sweets',
    mcc: '5441',
    words:
      'sweets; candy; gummy bears; chocolate; chocolates; lollipops; toffee; fudge; marshmallows; liquorice; licorice; süssigkeiten; schokolade; bonbons; caramelos; snoep',
    companies: '^haribo',
  },
  {
    id: 'soft_drinks',
    family: 'food',
    label: 'soft drinks',
    mcc: '5499',
    words:
      'soft drink; soft drinks; lemonade; cola; coke; soda; energy drink; energy drinks; limonade; iced tea; fanta; sprite; pepsi',
    companies: '',
  },
  {
    id: 'dairy',
    family: 'food',
    label: 'milk products',
    mcc: '5451',
    words:
      'dairy; milk; cheese; butter; cream; yoghurt; yogurt; mozzarella; parmesan; cheddar; feta; quark; milch; käse; joghurt; sahne; lait; fromage; beurre; leche; queso; melk; kaas',
    companies: '',
  },
  {
    id: 'medicines',
    family: 'health',
    label: 'medicines',
    mcc: '5122, 5912',
    words:
      'medicine; medicines; medication; medications; drug; drugs; painkiller; painkillers; ibuprofen; paracetamol; acetaminophen; aspirin; antibiotics; insulin; antidepressants; prescription drugs; sleeping pills; medikamente; arzneimittel; médicaments; medicamentos; medicijnen',
    companies: '',
  },
  {
    id: 'meat',
    family: 'food',
    label: 'meat',
    mcc: '5422',
    words:
      'meat; beef; pork; chicken; lamb; veal; turkey breast; poultry; bacon; ham; sausage; sausages; steak; mince; brisket; short rib; salami; fleisch; viande; carne; vlees; ~kip; duck breast; venison; burgers patties; meatballs; hackfleisch',
    companies: '',
  },
  {
    id: 'restaurants',
    family: 'food',
    label: 'restaurant meals and catering',
    mcc: '5811-5814',
    words:
      'restaurant; restaurants; lunch; dinner; breakfast; brunch; catering; meal; meals; pizza; pizzas; burger; burgers; sandwich; sandwiches; sushi; taco; tacos; burrito; burritos; quesadilla; quesadillas; nachos; ramen; ~curry; kebab; falafel; buffet; finger food; takeaway; take-away; take-out; takeout; food delivery; canapés; coffee break; team lunch; mittagessen; abendessen; ~essen; ~dish; dishes; canteen; ~soup; bowl lunch; empanadas; enchiladas; guacamole; flan; ceviche; smoothie; smoothies; fries; chicken wings; lasagne; lasagna; risotto; paella; tapas; dumplings; pho; pad thai; poke bowl; fajita; fajitas; chowder; churros; milkshake; tiramisu; schnitzel; currywurst; döner; gyros; souvlaki; bibimbap; dim sum; cheesecake; queso; hummus; salsa; table reservation; ~dessert; cafeteria',
    companies:
      'mcdonald s; burger king; kfc; subway; domino s; pizza hut; papa john s; starbucks; dunkin; chipotle; taco bell; five guys; shake shack; panera; wendy s; chick-fil-a; pret a manger; nando s; wagamama; vapiano; l osteria; nordsee; doordash; uber eats; ubereats; grubhub; deliveroo; just eat; lieferando; takeaway.com; ^wolt; foodora; ^glovo; zomato; swiggy; ezcater; opentable; sodexo; aramark; compass group; tim hortons; costa coffee; subway restaurants; ^costa; greggs; pizza express; papa johns; panda express; sweetgreen; cava; in-n-out; popeyes; dairy queen; sonic drive-in; arby s; jack in the box; olive garden; cheesecake factory; ^outback; applebee s; chili s; denny s; ihop; block house; hans im glück; peter pane; dean & david; coffee fellows; backwerk; thuisbezorgd; skip the dishes; foodpanda; eurest; ^elior; caviar delivery; resy; thefork; ^seamless; toogoodtogo; smartbox dining',
  },
  {
    id: 'alcohol',
    family: 'alcohol',
    label: 'alcohol',
    mcc: '5813, 5921',
    words:
      'alcohol; alcoholic; wine; wines; beer; beers; champagne; prosecco; whisky; whiskey; vodka; ~gin; ~rum; tequila; cognac; brandy; liqueur; liquor; ~spirits; cider; ~lager; ~ale; ipa beer; sauvignon; cabernet; merlot; chardonnay; pinot; rosé; riesling; cocktail; cocktails; margarita; margaritas; mojito; aperol; ~sake; wein; bier; schnaps; sekt; vin rouge; bière; vino; cerveza; wijn; bourbon; malbec; rioja; keg; open bar; cava; mezcal; grauburgunder',
    companies:
      'total wine; bevmo; majestic wine; hawesko; vivino; jacques wein-depot; moët hennessy; diageo; drizly; heineken; anheuser-busch; southern glazer s; republic national distributing; gall & gall; ^nicolas; systembolaget; vinmonopolet; ^alko; wine.com; master of malt; moet hennessy; pernod ricard; bacardi; jack daniel s; johnnie walker; absolut; smirnoff; jägermeister; campari; aperol; carlsberg; budweiser; beck s; krombacher; bitburger; guinness; brewdog; sierra nevada; naked wines; laithwaites; virgin wines; liquor barn; jacques wein depot; the whisky exchange; whisky.de; berry bros; vinted wines; lcbo; ^saq',
  },
  {
    id: 'tobacco',
    family: 'alcohol',
    label: 'tobacco',
    mcc: '5993',
    words:
      'tobacco; cigarettes; cigars; vape; vaping; e-cigarette; nicotine; shisha; tabak; zigaretten; tabac',
    companies: 'philip morris; juul; iqos; marlboro; vuse; british american tobacco',
  },
  {
    id: 'lab_consumables',
    family: 'laboratory',
    label: 'laboratory consumables',
    mcc: '5047, 5169, 8071',
    words:
      'reagent; reagents; enzyme; enzymes; oligo; oligos; primers pcr; antibody; antibodies; pipette tips; filter tips; centrifuge tubes; falcon tubes; petri; petri dish; petri dishes; agar; peptone; buffer solution; cell culture; medium dmem; culture medium; assay; assay kit; elisa; pcr; pcr plates; qpcr; dmso; ethanol absolute; methanol; acetonitrile; solvent; solvents; chemicals; nitrile gloves; lab gloves; gloves; wipes; kimwipes; parafilm; cuvettes; cuvette; cryovials; cryo tubes; plasmid; taq; polymerase; ligase; restriction enzyme; sequencing; liquid nitrogen; ln2; dry ice; ~helium; argon; carbon dioxide cylinder; gas cylinder; lab plastics; labware; microplate; microplates; pipettes serological; syringe filter; ~stain; ~gel; agarose; microtubes; dntp; consumables; laborbedarf; reagenzien; spin columns; chemikalien; trypsin; fetal bovine serum',
    companies:
      'sigma-aldrich; sigma aldrich; merck; millipore; carl roth; vwr; avantor; fisher scientific; thermo fisher; thermofisher; invitrogen; eppendorf; new england biolabs; neb; qiagen; promega; roche diagnostics; bio-rad; biorad; sartorius; greiner; sarstedt; corning; starlab; integrated dna technologies; idt; twist bioscience; eurofins; genscript; abcam; takara bio; illumina; tci chemicals; alfa aesar; cytiva; lonza; zymo research; airgas; linde; air liquide; pangas; messer; addgene; thomas scientific; macherey-nagel; thermo fisher scientific; merck millipore; milliporesigma; ^roth; cell signaling; santa cruz biotechnology; biolegend; bd biosciences; becton dickinson; greiner bio-one; brand gmbh; ^nunc; gilson; rainin; integra biosciences; tecan consumables; ^pall; whatman; oxford nanopore; eurofins genomics; atcc; biochrom; pan biotech; th geyer; th. geyer; omnilab; faust lab; neolab; dutscher; ^lgc; cayman chemical; acros; honeywell chemicals; j.t.baker; spectrum chemical; cole-parmer; grainger lab; ^kimble; ^duran; schott; vacutainer; air products; praxair',
  },
  {
    id: 'lab_instruments',
    family: 'laboratory',
    label: 'laboratory instruments',
    mcc: '5047',
    words:
      'instrument; instruments; centrifuge; microscope; microscopes; thermocycler; spectrometer; spectrophotometer; incubator; ~autoclave; fume hood; ultra-low freezer; plate reader; sequencer; balance analytical; shaker incubator; chromatograph; hplc system; flow cytometer; oscilloscope; water bath; laminar flow',
    companies:
      'zeiss microscopy; leica microsystems; agilent; perkinelmer; bruker; shimadzu; waters corporation; mettler toledo; beckman coulter; tecan; hamilton robotics; nikon instruments; keysight; tektronix; zeiss; olympus life science; keyence; hamamatsu; ohaus; anton paar; metrohm; ^hach; ^ysi; ^ika; heidolph; buchi; büchi; memmert; binder gmbh; hettich; ^hermle; thermo scientific; molecular devices; biotek; hamilton company; malvern panalytical; horiba; jasco; jeol; oxford instruments; rohde & schwarz; national instruments; ^fluke; testo',
  },
  {
    id: 'logistics',
    family: 'logistics',
    label: 'post, courier and freight',
    mcc: '4214, 4215, 9402',
    words:
      'shipping; shipment; shipments; parcel; parcels; courier; couriers; postage; stamps; freight; forwarding; haulage; pallet shipment; pallet; pallets; express delivery; overnight delivery; registered letter; registered mail; letters; customs clearance; customs duty; container freight; last mile; ~warehouse; warehousing; fulfilment; fulfillment; ~packaging; cardboard boxes; bubble wrap; packing tape; paket; pakete; päckchen; porto; versand; spedition; fracht; briefmarken; einschreiben; colis; envoi; affranchissement; transporte; envío; paquete; verzending; waybill; prepaid labels; shipping labels; drop-off; pick-up; mailroom; return label',
    companies:
      'dhl; fedex; ups; usps; royal mail; deutsche post; dpd; gls; hermes paket; hermes germany; evri; tnt; postnl; bpost; la poste; chronopost; colissimo; correos; seur; poste italiane; swiss post; österreichische post; postnord; ^bring; inpost; canada post; australia post; purolator; db schenker; kuehne+nagel; kuehne nagel; dsv; maersk; hapag-lloyd; dachser; xpo; ch robinson; flexport; stamps.com; pitney bowes; shippo; sendcloud; easypost; shipstation; go! express; time:matters; packlink; parcelforce; aramex; geodis; world courier; ontrac; sf express; die post; deutsche post filiale; dhl express; hermes; ^yodel; an post; mondial relay; ^mrw; nacex; ^ctt; brt bartolini; ^sda; posti; poczta polska; packeta; lasership; lone star overnight; startrack; toll group; japan post; yamato; sagawa; china post; cainiao; ^4px; kuehne + nagel; hellmann; rhenus; expeditors; c.h. robinson; xpo logistics; ^msc; cma cgm; ^evergreen; sendle; pirate ship; parcel2go; parcel monkey; interparcel; easyship; frankierservice; francotyp; neopost; quadient; sealed air packaging; uline; packlane; packhelp; ratioform; rajapack; kite packaging; davpack; antalis; staples packaging; viking packaging; smurfit kappa; ds smith; mondi packaging; noissue; arka; u-pack; ^pods; sirva; amazon shipping; shipbob; fulfillment by amazon; byrd; hive logistics; gopuff; city sprint; citysprint; gophr; stuart delivery; packfleet; ecolane; zebra technologies; dymo labels',
  },
  {
    id: 'utilities',
    family: 'energy_and_property',
    label: 'power, water and heating',
    mcc: '4900',
    words:
      'electricity; electricity bill; power bill; gas bill; water bill; ~heating; district heating; utilities; utility bill; kwh; ~meter; sewage; waste collection; recycling bin; strom; stromrechnung; abschlag; wasser; heizung; fernwärme; électricité; electricidad; energie; ~power; ~energy; heating oil; natural gas; propane; garbage collection; solar power',
    companies:
      'e.on; eon energie; vattenfall; enbw; rwe; ewe; stadtwerke; edf; engie; iberdrola; endesa; naturgy; enel; eni plenitude; british gas; octopus energy; scottish power; ovo energy; thames water; pg&e; con edison; duke energy; southern california edison; national grid; florida power; dominion energy; ewz; eneco; essent; veolia; suez; waste management; ørsted; fortum; hydro-québec; ^eon; stadtwerke münchen; mainova; rheinenergie; lichtblick; naturstrom; greenpeace energy; tibber; edf energy; scottishpower; ^sse; ^bulb; npower; utilita; total direct energie; eni plenti; ^a2a; ^hera; greenchoice; luminus; verbund; wien energie; ^ekz; ^bkw; axpo; severn trent; united utilities; anglian water; yorkshire water; coned; xcel energy; dte energy; ameren; entergy; florida power & light; ^fpl; constellation energy; direct energy; ^txu; ^reliant; hydro-quebec; bc hydro; ontario power; enbridge gas; ^agl; origin energy; energyaustralia; tepco; republic services; biffa; remondis; ^alba; fcc environment; ista; techem; brunata; minol',
  },
  {
    id: 'rent',
    family: 'energy_and_property',
    label: 'rent and premises',
    mcc: '6513',
    words:
      'rent; office rent; lease payment; coworking; landlord; ~premises; service charge; miete; büromiete; pacht; loyer; alquiler; huur; storage unit; mortgage; property management; facility management; security guard',
    companies:
      'wework; regus; iwg; ^spaces; mindspace; industrious; public storage; shurgard; vonovia; knotel; ^convene; the office group; ^fora; workspace group; design offices; impact hub; betahaus; unicorn workspaces; peerspace; storage king; extra space storage; cubesmart; life storage; big yellow; safestore; lok n store; myplace storage; cbre; ^jll; cushman & wakefield; ^colliers; savills; knight frank; deutsche wohnen; leg immobilien; prologis; segro; boxd; iron mountain; containerwelt; mobile mini; willscot; algeco; algeco scotsman',
  },
  {
    id: 'building_materials',
    family: 'building',
    label: 'building materials and tools',
    mcc: '5039, 5072, 5200, 5211',
    words:
      'cement; concrete; bricks; plasterboard; drywall; lumber; timber; plywood; insulation; roofing; tiles; grout; ~paint; ~primer paint; ~nails; screws; ~bolts; drill; drill bits; saw blade; saw blades; hammer; ladder; scaffolding; ~pipes; ~fittings; plumbing; faucet; wiring; electrical cable; light switches; sockets; sand and gravel; tools; power tools; hand tools; hardware store; baustoffe; werkzeug; schrauben; ~holz; dämmung; fliesen; ~farbe; matériaux; outils; herramientas; gereedschap; sealant; ~silicone; adhesive anchors; rebar; mortar; gravel; varnish',
    companies:
      'home depot; lowe s; menards; ace hardware; bauhaus; hornbach; obi; toom; hagebau; leroy merlin; castorama; brico dépôt; b&q; screwfix; wickes; travis perkins; toolstation; würth; hilti; bosch professional; makita; dewalt; milwaukee tool; festool; stihl; grainger; fastenal; mcmaster-carr; bunnings; ^gamma; ^praxis; rs components; ferguson; saint-gobain; knauf; sherwin-williams; sonepar; rexel; bauking; the home depot; lowes; true value; harbor freight; northern tool; wurth; ^fischer; spax; metabo; stanley black & decker; ryobi; einhell; husqvarna; gedore; hazet; wera; wiha; knipex; bahco; snap-on; stahlwille; hellweg; globus baumarkt; raab karcher; rockwool; isover; ^sika; mapei; henkel bautechnik; ^weber; cemex; holcim; lafarge; heidelberg materials; wienerberger; velux; jewson; selco; builders depot; homebase; topps tiles; tile giant; brico depot; bricomarche; point p; manomano; karwei; ^hubo; brico; ^jula; clas ohlson; ^rona; home hardware; canadian tire; benjamin moore; dulux; farrow & ball; caparol; brillux; 84 lumber; hd supply; graybar; ^ced; wesco; contorion; toolnation; machine mart; axminster; rs components tools; lumber liquidators; floor & decor; grohe; hansgrohe; geberit; villeroy & boch; kohler; vaillant; viessmann; buderus; bosch thermotechnik; richter+frenzel; plumbase; wolseley; city plumbing; victorian plumbing; reece; toolbank; hire station; hss hire; boels; sunbelt rentals; united rentals; loxam; kiloutou; zeppelin rental; hkl baumaschinen',
  },
  {
    id: 'trades_and_repair',
    family: 'building',
    label: 'craftsmen and repair',
    mcc: '1520-1799, 7622-7699',
    words:
      'plumber; electrician; carpenter; ~contractor; ~contractors; handyman; roofer; ~painter; renovation; remodel; ~repair; ~repairs; ~maintenance; hvac; air conditioning service; locksmith; pest control; gutter; landscaping; deck repair; ~installation; appliance repair; handwerker; klempner; elektriker; reparatur; wartung; dépannage; fontanero; loodgieter; callout; window cleaning; tile work; flooring; moving service; movers',
    companies:
      'angi; thumbtack; taskrabbit; myhammer; checkatrade; ^otis; schindler; kone; thyssenkrupp elevator; rentokil; terminix; servicemaster; mr rooter; roto-rooter; homeadvisor; handy; angie s list; mybuilder; rated people; helpling; book a tiger; handy.com; mr. rooter; mr. electric; benjamin franklin plumbing; one hour heating; ars rescue rooter; pimlico plumbers; homeserve; british gas homecare; dyno; drain doctor; orkin; anticimex; tk elevator; johnson controls; siemens building; honeywell building; ^carrier; daikin; trane; lennox; spie; caverion; apleona; wisag; gegenbauer; ^strabag; iss facility; sodexo facilities; mitie; ^bauer; chubb; minimax; ^adt; verisure; securitas',
  },
  {
    id: 'industrial_supplies',
    family: 'industry',
    label: 'industrial material and parts',
    mcc: '5085, 5051, 5065',
    words:
      '~parts; ~materials; ~components; machining; machined parts; spare part; cast; casting; bearings; o-ring; o-rings; shaft; impeller; steel; sheet metal; aluminium; aluminum; ~copper; bearings; ball bearing; gearbox; ~motor; ~pump; ~pumps; valve; valves; hydraulics; hydraulic; pneumatic; lubricant; ~grease; welding; cnc; machine parts; spare part; spare parts; ~resin; adhesives; plastic granulate; fasteners; conveyor; ~sensor; ~sensors; plc; resistors; capacitors; microcontroller; circuit boards; pcb; pcb assembly; safety boots; safety helmet; hard hats; workwear; hi-vis; ppe; ersatzteile; stahl; blech; schmierstoff; arbeitskleidung; acier; acero; raw material; filament; ~machine; machinery; forklift; ~generator; relays; ~crane',
    companies:
      'siemens; abb; bosch rexroth; festo; skf; schaeffler; parker hannifin; igus; grundfos; ksb; thyssenkrupp; klöckner; digikey; digi-key; mouser; farnell; arrow electronics; avnet; jlcpcb; pcbway; xometry; protolabs; engelbert strauss; caterpillar; john deere; komatsu; honeywell; emerson; rockwell automation; schneider electric; phoenix contact; wago; pepperl+fuchs; omron; mitsubishi electric; trumpf; fanuc; henkel loctite; hoffmann group; misumi; rs components; rs group; element14; ^tme; conrad business; mcmaster-carr; mcmaster; msc industrial; motion industries; applied industrial; zoro; global industrial; hahn+kolb; brammer; eriks; rubix; ^fag; ^nsk; ^ntn; timken; smc pneumatics; swagelok; ^weidmüller; rittal; beckhoff; keyence; sick ag; ifm electronic; balluff; turck; endress+hauser; yaskawa; kuka; arcelormittal; kloeckner metals; salzgitter; voestalpine; alcoa; norsk hydro; basf; dow chemical; dupont; covestro; evonik; lanxess; wacker; loctite; 3m industrial; klüber; fuchs lubricants; shell lubricants; mobil lubricants; trelleborg; freudenberg; ^gates; contitech; norgren; ganter norm; norelem; elesa; bossard; ^hubs; fractory; shapeways; eurocircuits; multi-cb; aisler; würth elektronik; murata; ^tdk; vishay; te connectivity; molex; amphenol; lapp; helukabel; sew eurodrive; nord drivesystems; wilo; sulzer; alfa laval; danfoss; samson; burkert; ^gea; atlas copco; kaeser; ingersoll rand; linde gas; lincoln electric; fronius; esab; kemppi; sandvik; kennametal; iscar; walter tools; mitutoyo',
  },
  {
    id: 'farming_and_garden',
    family: 'farming_and_garden',
    label: 'farming and garden supplies',
    mcc: '0763, 5261',
    words:
      'seeds; seedlings; fertilizer; fertiliser; compost; pesticide; herbicide; irrigation; greenhouse; potting soil; topsoil; lawn mower; garden tools; animal feed; ~hay; livestock; tractor; plants; shrubs; flower bulbs; mulch; saatgut; dünger; gewächshaus; pflanzen; semences; engrais; semillas; fertilizante; drip line; beehive',
    companies:
      'baywa; syngenta; bayer crop science; corteva; raiffeisen; tractor supply; dehner; gardena; husqvarna; burpee; monty don; crop king; nutrien; cargill feed; john deere; ^claas; fendt; new holland; kubota; massey ferguson; deutz-fahr; agco; agravis; landi; genossenschaft raiffeisen; rural king; southern states; ^kws; limagrain; yara; k+s; ^compo; neudorff; pötschke; baldur garten; johnny s selected seeds; thompson & morgan; suttons; ^crocus; dobbies; wyevale; sarah raven; truffaut; jardiland; gamm vert; ^botanic; intratuin; toolstation garden; greenhouse megastore; hydrofarm; rainbird; hunter industries; netafim; lely; delaval; gea farm; hauptner; ^kerbl; ^siepmann; mole valley farmers; countrywide farmers; dadant; mann lake; brushy mountain; betterbee; thorne beekeeping; e.h. thorne; bienen ruck; holtermann; holland bulb; ^bakker; dutchgrown',
  },
  {
    id: 'freelancers',
    family: 'people_and_services',
    label: 'freelance work',
    mcc: '7392, 7399',
    words:
      'freelancer; freelancers; freelance; ~copyeditor; copyediting; copyedit; proofreading; proofreader; proofread; editor; editors; editing; illustrator; illustration; illustrations; translator; translation; translations; typesetting; typesetter; cover design; indexing; indexer; ghostwriter; voice-over; narration; narrator; transcript; manuscript; lektorat; korrektorat; übersetzung; übersetzer; honorar; traduction; traducción; ~correction; ~layout; photographer; videographer; developer day rate; contractor invoice; sensitivity reader; audiobook; beta reader; book cover; ~illustrated; developmental edit; interpreter',
    companies:
      'upwork; fiverr; toptal; freelancer.com; ^malt; reedsy; 99designs; gengo; translated; smartcat; proz; designcrowd; ^contra; guru.com; peopleperhour; behance; dribbble; designhill; voices.com; voquent; ^rev; scribie; textbroker; contently; ^scripted; clickworker; mechanical turk; ^prolific; usertesting; testbirds; twago; workgenius; braintrust; working not working; artstation; storyhunter; mturk; soundbetter; airgigs; one hour translation; lionbridge; transperfect; onespace',
  },
  {
    id: 'professional_services',
    family: 'people_and_services',
    label: 'professional services',
    mcc: '8111, 8911, 8931, 7392',
    words:
      'legal fees; lawyer; attorney; notary; law firm; legal advice; ~audit; ~auditor; tax adviser; tax advisor; tax return; bookkeeping; accountant; consulting; consultant; consultancy; ~architect; surveyor; patent; trademark; steuerberater; rechtsanwalt; kanzlei; notar; beratung; avocat; comptable; abogado; gestoría; ~escrow; due diligence',
    companies:
      'deloitte; pwc; kpmg; ernst & young; ^ey; mckinsey; bcg; bain & company; accenture; capgemini; legalzoom; rocket lawyer; baker mckenzie; dentons; gartner; ^bdo; grant thornton; ^rsm; mazars; rödl; ebner stolz; baker tilly; boston consulting group; roland berger; kearney; oliver wyman; forrester; ibm consulting; infosys; ^tcs; wipro; ^cognizant; dla piper; clifford chance; linklaters; freshfields; allen & overy; latham & watkins; kirkland & ellis; skadden; white & case; hogan lovells; ^cms; taylor wessing; noerr; hengeler; gleiss lutz; clerky; stripe atlas; firstbase; companies house; bundesanzeiger; tüv rheinland; tuv rheinland; dekra certification; ^sgs; bureau veritas; intertek; ^dnv; lloyd s register; ul solutions; bsi group; vanta; drata; secureframe; arup; aecom; ^jacobs; ^wsp; mott macdonald; ramboll; sweco; ^arcadis; drees & sommer; creditreform; schufa; dun & bradstreet; experian; equifax; transunion',
  },
  {
    id: 'payroll',
    family: 'people_and_services',
    label: 'wages and personnel',
    mcc: '7361, 8999',
    words:
      'payroll; salary; salaries; wages; ~wage; ~bonus payment; staffing; temp agency; temporary workers; recruiting; recruitment; recruiter; job ad; job ads; headhunter; background check; severance; pension contribution; employee benefits; stipend; lohn; gehalt; gehälter; personalvermittlung; zeitarbeit; salaire; nómina; salaris; per diem',
    companies:
      'adp; ^gusto; ^deel; remote.com; rippling; paychex; personio; randstad; adecco; manpower; hays; robert half; indeed; stepstone; monster.com; glassdoor; kelly services; michael page; papaya global; bamboohr; gusto payroll; paylocity; paycom; ceridian; dayforce; trinet; justworks; oyster hr; ^multiplier; velocity global; ^hudson; page personnel; xing; ziprecruiter; totaljobs; reed.co.uk; infojobs; ^seek; tempo team; start people; proman; synergie; ^crit; dekra arbeit; persona service; zeitarbeit; hellowork; wise payroll; urban sports club; egym wellpass; gympass; wellhub; benefit systems; edenred; sodexo benefits; ^pluxee; jobrad; lease a bike; businessbike',
  },
  {
    id: 'courses',
    family: 'learning_and_events',
    label: 'courses and books',
    mcc: '5942, 8220-8299',
    words:
      '~course; courses; online course; training course; tuition; tuition fee; ~exam; certification; e-learning; textbook; textbooks; books; paperback; hardcover; ebook; journal subscription; journal article; seminar; lecture; language course; coaching; tutoring; fortbildung; schulung; kurs; ~buch; bücher; ~formation; livre; libros; curso; school fees; webinar; dictionary; professional training; novel; novels; ~library',
    companies:
      'coursera; udemy; pluralsight; linkedin learning; edx; skillshare; o reilly media; udacity; codecademy; datacamp; khan academy; masterclass; duolingo; babbel; pearson; springer; elsevier; wiley; thalia; hugendubel; waterstones; barnes & noble; audible; kindle; scribd; penguin random house; cambridge university press; oxford university press; goethe-institut; ieee; acm; packt; manning; blinkist; treehouse; frontend masters; ^egghead; a cloud guru; linux academy; oreilly; o reilly; no starch press; apress; mcgraw hill; cengage; ^macmillan; harpercollins; hachette; simon & schuster; osiander; dussmann; orell füssli; fnac livres; gibert; foyles; blackwell s; bookshop.org; thriftbooks; abebooks; world of books; better world books; chegg; rosetta stone; berlitz; goethe institut; british council; inlingua; ef education; italki; preply; wall street english; toefl; ^ets; ielts; pearson vue; prometric; comptia; isc2; isaca; ^pmi; scrum.org; scrum alliance; axelos; peoplecert; haufe akademie; ^ihk; tüv akademie; general assembly; le wagon; ironhack; ^springboard; brilliant.org; ^kobo; harvard business review; ^economist; new york times; financial times; wall street journal; der spiegel; ^faz; nature portfolio; jstor; proquest; ebsco; coursehero; teachers pay teachers; school specialty; lakeshore learning; ^scholastic; ravensburger books; westermann; cornelsen; klett; scook',
  },
  {
    id: 'conferences',
    family: 'learning_and_events',
    label: 'conferences and event tickets',
    mcc: '7399, 7922',
    words:
      'conference; conferences; ~congress; ~summit; ~expo; trade fair; trade show; ~ticket; conference ticket; conference pass; workshop; workshops; early bird; attendee; attendees; registration fee; delegate; ~booth; exhibition stand; ~speaker; symposium; meetup; hackathon; konferenz; tagung; messe; messestand; teilnahmegebühr; conférence; congreso; beurs; ~keynote; full pass; day pass; ~registration; poster session; venue hire; ~venue',
    companies:
      'eventbrite; ^tito; ti.to; pretix; hopin; cvent; ^luma; web summit; aws re:invent; re:invent; kubecon; fosdem; pycon; devoxx; qcon; websummit; dreamforce; google i/o; wwdc; ces; mobile world congress; messe frankfurt; koelnmesse; messe münchen; deutsche messe; linux foundation; cloud native computing foundation; xing events; doo.net; goto conference; jsconf; oreilly conferences; ^strata; ^slush; republica; re:publica; sxsw; ndc conferences; weezevent; bizzabo; swapcard; meetup; lu.ma; hubilo; ticket tailor; ^universe; ^bevy; whova; tnw conference; collision conf; ^mwc; gsma; google io; microsoft ignite; microsoft build; saastr; cncf; europython; django con; djangocon; react conf; infoq; strange loop; o reilly conferences; usenix; black hat; defcon; rsa conference; acm sigchi; neurips; icml; cvpr; ieee conference; ted conferences; gartner symposium; forrester summit; informa; reed exhibitions; rx global; messe berlin; messe düsseldorf; hannover messe; fira barcelona; ifema; fiera milano; excel london; javits center; omr festival; dmexco; bits & pretzels; heise events; golem akademie',
  },
  {
    id: 'taxes',
    family: 'public_dues',
    label: 'taxes and public fees',
    mcc: '9311, 9399',
    words:
      '~tax; taxes; vat payment; income tax; property tax; ~customs; permit; permit fee; licence fee; court fee; passport; fine notice; parking fine; social security contribution; steuer; steuern; umsatzsteuer; gewerbesteuer; gebühr; impôt; impôts; impuesto; impuestos; belasting; vorauszahlung; registry fee; trade register',
    companies:
      'finanzamt; hmrc; irs; internal revenue service; agencia tributaria; dgfip; urssaf; belastingdienst; ddmv; bundeskasse; companies house; handelsregister; landeshauptkasse; state of california; us treasury; eftps; hm revenue; bundeszentralamt für steuern; zoll; hauptzollamt; impots.gouv; aeat; seguridad social; agenzia delle entrate; inps; ^kvk; skatteverket; skat; skatteetaten; ^vero; ^cra; canada revenue agency; ^ato; australian taxation office; ^ird; franchise tax board; secretary of state; uspto; ^epo; euipo; dpma; wipo; uk ipo; dvla; dvsa; ^kba; ^dmv; ^fcc; ^fda; ofcom; bundesnetzagentur; gema; vg wort; vg bild-kunst; sacem; prs for music; ppl prs; ascap; ^bmi; sesac; sgae; siae; buma stemra; suisa; ^akm; rundfunkbeitrag; ard zdf deutschlandradio; beitragsservice; tv licensing; berufsgenossenschaft; minijob-zentrale; knappschaft; ksk künstlersozialkasse; ^ihk; handwerkskammer; chamber of commerce; land registry; city council; county clerk; sos delaware; delaware division of corporations; oss vat; avalara; taxjar; turbotax; h&r block; wiso steuer; taxfix',
  },
  {
    id: 'insurance_and_banking',
    family: 'finance',
    label: 'insurance and banking',
    mcc: '6010-6012, 6300',
    words:
      'insurance; insurance premium; liability insurance; bank fee; bank charges; ~loan; loan repayment; credit card bill; interest payment; versicherung; versicherungsbeitrag; kredit; assurance; seguro; verzekering; payment processing fees; warranty extension; extended warranty; protection plan',
    companies:
      'allianz; axa; zurich insurance; generali; munich re; ergo; huk-coburg; state farm; geico; progressive insurance; aig; chubb; aviva; hiscox; helvetia; die mobiliar; lemonade insurance; deutsche bank; commerzbank; sparkasse; ^ing; hsbc; barclays; ^chase; jpmorgan; wells fargo; bank of america; citibank; american express; capital one; bnp paribas; ubs; santander; bbva; klarna; monzo; n26; ^visa; mastercard; ^hdi; zurich; swiss re; baloise; mobiliar; signal iduna; gothaer; ^vgh; ^lvm; huk coburg; devk; debeka; arag; roland rechtsschutz; markel; ^admiral; direct line; legal & general; ^prudential; chubb insurance; ^travelers; ^progressive; allstate; liberty mutual; ^nationwide; farmers insurance; the hartford; next insurance; hiscox usa; ^lemonade; aetna; cigna; unitedhealthcare; blue cross blue shield; kaiser permanente; ^humana; tk techniker; barmer; ^aok; ^dak; mapfre; ^sanitas; groupama; maif; macif; matmut; unipolsai; nn group; aegon; ^asr; ethias; ^kbc; abn amro; rabobank; societe generale; credit agricole; lloyds bank; natwest; caixabank; volksbank; credit suisse; mercury bank; brex; ^ramp; qonto; ^starling; ^tide; euler hermes; atradius; coface; sumup; ^stripe; adyen; ^mollie; worldpay; ^affirm; paypal fees; gocardless; ^plaid; ^aon; ^marsh; willis towers watson; gallagher insurance',
  },
  {
    id: 'medical',
    family: 'health',
    label: 'medicine and health care',
    mcc: '5047, 5122, 5912, 8011-8099',
    words:
      'medicine; medicines; medication; prescription; pharmacy; drugstore; tablets ibuprofen; ibuprofen; paracetamol; aspirin; insulin; inhaler; antibiotics; vaccine; bandages; plasters; first aid; first-aid; wheelchair; syringes; doctor visit; dentist; dental; physiotherapy; hospital; ~medical; ~clinic; therapy; glasses optician; contact lenses; vitamins; supplements; arzt; apotheke; medikamente; verband; médicament; pharmacie; farmacia; medicamentos; apotheek; blood test; controlled substances; opioid; ketamine; thermometer; compression stockings; surgical masks; defibrillator',
    companies:
      'cvs; walgreens; rite aid; boots pharmacy; lloydspharmacy; docmorris; shop apotheke; redcare; medpex; pfizer; novartis; bayer vital; fielmann; specsavers; mckesson; cardinal health; henry schein; ^medline; ^hims; ottobock; fressnapf vet; doctolib; teladoc; iherb; gnc; holland & barrett; labcorp; quest diagnostics; zocdoc; goodrx; walmart pharmacy; owens & minor; patterson dental; benco dental; dentsply sirona; straumann; nobel biocare; ivoclar; vita zahnfabrik; 3m oral care; gerl dental; pluradent; plandent; kulzer; komet dental; b braun; fresenius; baxter; becton dickinson medical; smith & nephew; stryker; medtronic; abbott; roche diagnostics; siemens healthineers; philips healthcare; ge healthcare; drägerwerk; dräger; hartmann; paul hartmann; lohmann & rauscher; molnlycke; coloplast; convatec; hollister; essity health; ansell; sempermed; bayer; sanofi; ^gsk; astrazeneca; merck & co; johnson & johnson; eli lilly; boehringer ingelheim; ^stada; ratiopharm; teva; hexal; sandoz; phoenix pharma; noweda; gehe; sanacorp; alliance healthcare; walgreens boots; ^boots; superdrug; doktorabc; sanicare; express scripts; ro.co; amwell; betterhelp; talkspace; synlab; sonic healthcare; unilabs; helios kliniken; asklepios; sana kliniken; charite; mayo clinic; kaiser; bupa; nuffield health; apollo optik; warby parker; lenscrafters; amplifon; geers; kind hörgeräte; sunrise medical; praxisdienst; medisafe; doccheck shop; med1plus; promed; servoprax; zoll medical; philips aed',
  },
  {
    id: 'av_production',
    family: 'media_and_marketing',
    label: 'camera, sound and film gear',
    mcc: '5946, 5732, 7394, 7829',
    words: '',
    companies: '',
  },
  {
    id: 'books',
    family: 'learning_and_events',
    label: 'books, magazines and newspapers',
    mcc: '5192, 5942, 5994',
    words: '',
    companies: '',
  },
  {
    id: 'dental',
    family: 'health',
    label: 'dental materials and instruments',
    mcc: '5047, 8021',
    words: '',
    companies: '',
  },
  {
    id: 'electronics',
    family: 'technology',
    label: 'electronics and electronic parts',
    mcc: '5065, 5732',
    words: '',
    companies: '',
  },
  {
    id: 'event_services',
    family: 'learning_and_events',
    label: 'services and hire for events',
    mcc: '7299, 7359, 7929',
    words: '',
    companies: '',
  },
  {
    id: 'gases',
    family: 'laboratory',
    label: 'technical and laboratory gases',
    mcc: '5169, 5172, 5983',
    words: '',
    companies: '',
  },
  {
    id: 'kitchen_equipment',
    family: 'industry',
    label: 'kitchen, bakery and bar equipment',
    mcc: '5046, 5072, 5719',
    words: '',
    companies: '',
  },
  {
    id: 'packaging',
    family: 'logistics',
    label: 'packaging and packing materials',
    mcc: '5113, 5199',
    words: '',
    companies: '',
  },
  {
    id: 'printing',
    family: 'media_and_marketing',
    label: 'printing and signs',
    mcc: '2741, 2791, 7333, 7338',
    words: '',
    companies: '',
  },
  {
    id: 'school',
    family: 'learning_and_events',
    label: 'school fees, trips and materials',
    mcc: '8211, 8299, 5943',
    words: '',
    companies: '',
  },
  {
    id: 'stock_media',
    family: 'media_and_marketing',
    label: 'licensed music, pictures and fonts',
    mcc: '5815, 7333, 7338',
    words: '',
    companies: '',
  },
  {
    id: 'veterinary',
    family: 'health',
    label: 'veterinary supplies and medicines',
    mcc: '0742, 5047, 5122',
    words: '',
    companies: '',
  },
  {
    id: 'boats',
    family: 'vehicles',
    label: 'boats and moorings',
    mcc: '4457, 4468, 5551',
    words: '',
    companies: '',
  },
  {
    id: 'electrical_and_lighting',
    family: 'building',
    label: 'electrical goods and lighting',
    mcc: '5063, 5065, 5719',
    words: '',
    companies: '',
  },
  {
    id: 'facility_services',
    family: 'building',
    label: 'facility services',
    mcc: '7342, 7349, 7393, 7699',
    words: '',
    companies: '',
  },
  {
    id: 'machines_and_tools',
    family: 'industry',
    label: 'machines and tools',
    mcc: '5072, 5085, 7394',
    words: '',
    companies: '',
  },
  {
    id: 'parking_and_tolls',
    family: 'vehicles',
    label: 'parking and tolls',
    mcc: '4784, 7523',
    words: '',
    companies: '',
  },
  {
    id: 'safety_gear',
    family: 'industry',
    label: 'safety and protective equipment',
    mcc: '5047, 5099, 5137',
    words: '',
    companies: '',
  },
];
