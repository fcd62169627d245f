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
      'amazon web services; aws; google cloud; gcp; microsoft azure; azure; hetzner; ovh; ovhcloud; scaleway; digitalocean; linode; akamai; vultr; cloudflare; fastly; heroku; vercel; netlify; render.com; fly.io; railway.app; oracle cloud; ibm cloud; alibaba cloud; ionos; strato; rackspace; backblaze; wasabi; datadog; new relic; grafana labs; grafana; splunk; elastic.co; elasticsearch; ^sentry; pagerduty; opsgenie; mongodb; mongodb atlas; snowflake; databricks; supabase; neon.tech; planetscale; confluent; redis labs; hashicorp; namecheap; godaddy; gandi; porkbun; bunny.net; equinix; ^contabo; leaseweb; exoscale; infomaniak; upcloud; honeycomb.io; dynatrace; better stack; uptimerobot; cockroach labs; coreweave; lambda labs; runpod',
  },
  {
    id: 'model_access',
    family: 'technology',
    label: 'model and data interfaces',
    mcc: '7372',
    words:
      'llm; language model; inference; embeddings; ~tokens; api credits; api usage; model api; speech to text; text to speech; transcription; machine translation; ocr; geocoding; sms api; email api; ~prompt; fine-tuning; data feed; market data',
    companies:
      'openai; anthropic; mistral ai; ^cohere; hugging face; ^replicate; together ai; groq; perplexity; elevenlabs; deepl; assemblyai; deepgram; stability ai; midjourney; twilio; sendgrid; mailgun; postmark; vonage; messagebird; openrouter; mapbox; algolia; pinecone; serpapi; scale ai',
  },
  {
    id: 'software_subscriptions',
    family: 'technology',
    label: 'software and subscriptions',
    mcc: '5734, 5817, 7372',
    words:
      'software; saas; ~licence; ~license; software licence; software license; licences; licenses; ~seat; ~seats; ~plan; ~subscription; ~crm; erp; ~ide; design tool; project management tool; password manager; antivirus; office suite; ~workspace; plugin; mobile app; user accounts; version control; ci minutes; issue tracker; helpdesk software; e-signature; video conferencing; logiciel; lizenz; lizenzen; abonnement logiciel; accounting software; cad',
    companies:
      'github; gitlab; atlassian; jira; ^confluence; bitbucket; jetbrains; microsoft 365; office 365; microsoft; google workspace; slack; ^zoom; notion labs; ^notion; figma; ^sketch; adobe; creative cloud; canva; miro; asana; trello; monday.com; clickup; ^linear; airtable; zapier; ^make.com; dropbox; ^box; docusign; salesforce; hubspot; zendesk; freshworks; freshdesk; intercom; pipedrive; servicenow; workday; sap; oracle; autodesk; solidworks; 1password; lastpass; bitwarden; dashlane; ^okta; auth0; norton; mcafee; kaspersky; crowdstrike; sentinelone; teamviewer; grammarly; evernote; todoist; calendly; loom.com; webflow; squarespace; wix; wordpress; automattic; shopify; quickbooks; xero; lexware; datev; typeform; surveymonkey; qualtrics; tableau; mathworks; matlab; wolfram; jamf; snyk; sonarsource; postman; retool; vmware; citrix; red hat; suse; circleci; npm; docker inc; ^cursor; overleaf; sage accounting; freshbooks; lucidchart; basecamp',
  },
  {
    id: 'computer_hardware',
    family: 'technology',
    label: 'computers and peripherals',
    mcc: '5045, 5732',
    words:
      'computer; computers; laptop; laptops; notebook computer; notebooks pc; desktop pc; workstation; ~monitor; monitors; ~display; keyboard; computer mouse; ~mouse; mice; headset; headsets; headphones; webcam; docking station; ~dock; docks; usb; usb-c; hdmi; displayport; ssd; hdd; nvme; hard disk; hard drive; hard drives; disks; ~ram; memory module; ddr4; ddr5; cpu; gpu; graphics card; motherboard; power supply unit; ups battery; ~nas; router; routers; network switch; ethernet; cat6; cat6a; cat7; patch cable; patch cables; patch panel; sfp; access point; wifi; printer; printers; scanner; tablet; tablets; smartphone; ~charger; ~adapter; ~cable; cables; peripherals; raspberry pi; server rack; rack unit; thin client; ~projector; bildschirm; tastatur; maus; drucker; rechner; ordinateur; clavier; ~écran; portátil; ordenador; teclado; power bank; barcode scanner; kvm; thunderbolt',
    companies:
      'dell; lenovo; hewlett packard; hp inc; ^hp; asus; acer; logitech; jabra; poly inc; yealink; samsung electronics; samsung; lg electronics; benq; eizo; intel; amd; nvidia; seagate; western digital; ^crucial; kingston; sandisk; synology; qnap; ubiquiti; cisco; netgear; tp-link; juniper networks; mikrotik; ^anker; belkin; apc; supermicro; bechtle; cdw; insight direct; computacenter; cancom; cyberport; notebooksbilliger; ^alternate; mindfactory; newegg; micro center; b&h photo; best buy; mediamarkt; ^saturn; fnac; currys; microsoft; reichelt; conrad electronic; digitec; brack.ch; ^epson; ^brother; kyocera; zebra technologies; raspberry pi; framework computer; apple; apple store; ^arp; misco; ^arlo; corsair; ^lexar; micron; ^wd; fujitsu',
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
      'vodafone; t-mobile; deutsche telekom; telekom; ^o2; telefonica; verizon; at&t; comcast; xfinity; spectrum; ^orange; bouygues telecom; sfr; swisscom; sunrise communications; salt mobile; kpn; ziggo; bt group; british telecom; sky broadband; movistar; tim italia; telia; telenor; tele2; proximus; airtel; reliance jio; telstra; optus; rogers; bell canada; 1&1; freenet mobile; airalo; starlink',
  },
  {
    id: 'advertising',
    family: 'media_and_marketing',
    label: 'advertising',
    mcc: '7311',
    words:
      'ads; advert; adverts; advertising; advertisement; ad spend; ~campaign; paid search; paid social; ppc; sponsored post; sponsored posts; ~impressions; ~clicks; cpc; cpm; retargeting; remarketing; banner ads; billboard; ~influencer; newsletter sponsorship; media buying; lead generation; keyword bids; display ads; video ads; anzeige; anzeigen; werbung; ~kampagne; publicité; publicidad; pinterest ads; radio spot; ~marketing; promoted pins; carousel ads; ~creative; audience targeting',
    companies:
      'google ads; adwords; meta ads; facebook ads; facebook; meta platforms; ^meta; instagram; linkedin ads; linkedin marketing; linkedin; tiktok ads; tiktok; tiktok for business; x ads; twitter; snap inc; snapchat; pinterest; reddit ads; reddit; microsoft advertising; bing ads; amazon ads; amazon advertising; criteo; ^taboola; outbrain; quora ads; spotify advertising; the trade desk; adroll; yelp ads; jcdecaux; ströer; clear channel; podcastads; google ireland; acast; applovin; google',
  },
  {
    id: 'marketing_tools',
    family: 'media_and_marketing',
    label: 'marketing tools and media production',
    mcc: '7311, 7333',
    words:
      'newsletter; email marketing; seo; keyword research; stock photo; stock photos; stock image; stock footage; social media scheduling; landing page; ~flyer; ~flyers; brochure; ~poster; press release; copywriting; photo shoot; video production; graphic design; logo design; ~branding; market research; roll-up banner; merch; promotional items; give-aways; giveaways',
    companies:
      'mailchimp; klaviyo; brevo; hootsuite; ^buffer; semrush; ahrefs; ^moz; sprout social; shutterstock; getty images; istock; adobe stock; unsplash; envato; vistaprint; moo print; flyeralarm; pr newswire; cision; constant contact; activecampaign; convertkit; marketo; similarweb; hotjar',
  },
  {
    id: 'office_supplies',
    family: 'office',
    label: 'office supplies',
    mcc: '5111, 5943',
    words:
      'office supplies; stationery; printer paper; copy paper; copier paper; ~paper; a4; letter paper; pen; pens; ballpoint; ballpoints; pencil; pencils; marker pens; markers; highlighter; highlighters; stapler; staples; paper clips; ~binder; binders; folders; ~folder; envelope; envelopes; sticky notes; post-it; post-its; notepad; notepads; toner; ink cartridge; ink cartridges; ~cartridge; label maker; whiteboard; flipchart; ~labels; shredder; hole punch; lever arch; desk organiser; desk organizer; laminating; laminator; adhesive tape; scissors; calendar refill; büromaterial; ~papier; kopierpapier; ~ordner; kugelschreiber; stifte; umschläge; druckerpatronen; fournitures de bureau; stylo; papeterie; material de oficina; papelería; bolígrafos; kantoorartikelen; whiteboard markers; index cards; clipboards; rubber bands; desk lamp; ~notebook',
    companies:
      '^staples; office depot; officemax; viking direct; ^viking; lyreco; otto office; bruneau; ^quill; w.b. mason; pilot pen; bic; faber-castell; staedtler; leitz; ^avery; 3m; ^brother; ryman; paperchase; mcpaper; manutan; böttcher; bueroshop24; rajapack; uline; kaiser+kraft',
  },
  {
    id: 'office_furniture',
    family: 'office',
    label: 'furniture',
    mcc: '5021, 5712',
    words:
      'furniture; office chair; office chairs; chair; chairs; standing desk; ~desk; desks; cabinet; cabinets; shelving; bookshelf; ~shelf; sofa; couch; meeting table; möbel; bürostuhl; schreibtisch; regal; meuble; mobilier; muebles; meubels; sideboard; armchair; wardrobe; locker; lockers',
    companies:
      'ikea; herman miller; steelcase; vitra; haworth; wayfair; usm; xxxlutz; knoll; humanscale; flexispot; autonomous.ai; crate and barrel; west elm; ashley furniture; maisons du monde; conforama',
  },
  {
    id: 'cleaning_supplies',
    family: 'office',
    label: 'cleaning and hygiene supplies',
    mcc: '2842, 7349',
    words:
      'cleaning supplies; cleaning products; cleaner spray; detergent; ~soap; hand soap; toilet paper; paper towels; kitchen roll; trash bags; bin liners; bin bags; disinfectant; sanitizer; sanitiser; mop; broom; dishwasher tablets; washing powder; ~bleach; descaler; ~sponge; sponges; reinigungsmittel; putzmittel; toilettenpapier; müllbeutel; waschmittel; schoonmaakmiddel; wasmiddel; keukenrol; küchenrolle; spülmittel; produits ménagers; limpieza',
    companies:
      'ecolab; kärcher; vileda; diversey; clorox; procter & gamble; ^tork; cintas; initial hygiene; henkel',
  },
  {
    id: 'flights',
    family: 'travel',
    label: 'flights',
    mcc: '3000-3299, 4511',
    words:
      'flight; flights; airfare; plane ticket; airline; airline ticket; checked bag; checked baggage; baggage; boarding; seat reservation; economy class; business class; first class; stopover; layover; round trip; one-way; flug; flüge; vol aller-retour; vuelo; vuelos; vlucht; rebooking fee; airport; flughafen; luggage',
    companies:
      'lufthansa; swiss international; austrian airlines; air france; klm; british airways; easyjet; ryanair; wizz air; eurowings; iberia; vueling; tap air portugal; sas; scandinavian airlines; norwegian air; finnair; lot polish; emirates; qatar airways; etihad; turkish airlines; delta air lines; ^delta; united airlines; american airlines; southwest airlines; jetblue; alaska airlines; air canada; westjet; qantas; singapore airlines; cathay pacific; ^ana; japan airlines; korean air; ita airways; aer lingus; ^condor; transavia; icelandair; latam; avianca; ^indigo; air india; spirit airlines; frontier airlines; brussels airlines; air new zealand',
  },
  {
    id: 'rail_and_coach',
    family: 'travel',
    label: 'trains and coaches',
    mcc: '4112, 4131',
    words:
      'train; trains; train ticket; rail; rail pass; railway; coach ticket; bus ticket; second class; bahn; bahncard; bahnticket; zug; zugfahrt; sitzplatz; billet de train; gare; tren; trein; ~metro; subway ticket; ~tram; transit pass; public transport; ferry; ferries; intercity',
    companies:
      'deutsche bahn; db vertrieb; db fernverkehr; sncf; eurostar; thalys; trenitalia; italo; renfe; öbb; oebb; sbb; cff; ns international; nederlandse spoorwegen; amtrak; via rail; trainline; omio; flixbus; flixtrain; national express; megabus; greyhound; lner; avanti west coast; great western railway; pkp intercity; dsb; ^vy; tfl; transport for london; stena line; dfds; japan rail; bvg; mvv; ratp; rhein-main-verkehrsverbund',
  },
  {
    id: 'lodging',
    family: 'travel',
    label: 'hotels and lodging',
    mcc: '3500-3999, 7011',
    words:
      'hotel; hotels; hostel; guesthouse; guesthouses; guest house; ~inn; motel; lodging; accommodation; overnight stay; ~nights; ~night; check-in; bed and breakfast; b&b; serviced apartment; ~room; ~rooms; double room; single room; unterkunft; übernachtung; ~zimmer; ~pension; chambre; hébergement hôtel; habitación; hotelkamer',
    companies:
      'booking.com; hotels.com; expedia; agoda; trivago; hrs; marriott; hilton; hyatt; ihg; holiday inn; intercontinental; accor; novotel; ibis; mercure; sofitel; motel one; premier inn; travelodge; best western; radisson; nh hotels; scandic; melia; meininger; b&b hotels; hampton inn; wyndham; choice hotels; four seasons; ritz-carlton; citizenm; moxy; leonardo hotels; sheraton; westin; courtyard; citadines; hostelworld; premier classe; ramada; steigenberger; maritim; lindner; kempinski; choice privileges',
  },
  {
    id: 'private_lodging',
    family: 'travel',
    label: 'private holiday flats',
    mcc: '7011',
    words:
      'holiday flat; holiday apartment; vacation rental; holiday home; ferienwohnung; ferienhaus; entire apartment; homestay',
    companies: 'airbnb; vrbo; fewo-direkt; novasol; wimdu; couchsurfing; homeaway; 9flats',
  },
  {
    id: 'local_transport',
    family: 'travel',
    label: 'taxis and transfers',
    mcc: '4121',
    words:
      'taxi; taxis; cab; airport transfer; ~transfer; transfers; shuttle; chauffeur; ride-hailing; airport ride; ~ride; minibus; taxi fare; limousine service',
    companies:
      'uber; lyft; ^bolt; freenow; free now; cabify; ^grab; ^gett; didi; blacklane; taxi; taxi.eu; ^curb; ola cabs; welcome pickups; suntransfers; ^tier; ^lime; ^voi; nextbike',
  },
  {
    id: 'car_rental',
    family: 'travel',
    label: 'rental cars',
    mcc: '3351-3500, 7512',
    words:
      'rental car; rental cars; car rental; car hire; hire car; mietwagen; location de voiture; alquiler de coche; huurauto; van rental; van hire; estate car; truck rental; car sharing; rent a car; compact car',
    companies:
      'sixt; hertz; europcar; avis; budget rent a car; ^enterprise; enterprise rent-a-car; alamo; national car rental; thrifty; dollar rent; share now; miles mobility; zipcar; turo; getaround; buchbinder; starcar; goldcar; u-haul; ^ryder; ^penske',
  },
  {
    id: 'travel_agency',
    family: 'travel',
    label: 'travel booking',
    mcc: '4722',
    words:
      '~trip; ~trips; business trip; business travel; travel; ~itinerary; reise; dienstreise; dienstreisen; geschäftsreise; voyage d affaires; viaje de negocios; zakenreis; visa fee; travel insurance; esta',
    companies:
      'expedia; kayak; skyscanner; opodo; edreams; priceline; travelperk; navan; concur; amex gbt; bcd travel; cwt; egencia; trip.com; orbitz; travelocity; getyourguide; viator; flight centre; der touristik; perk',
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
      '^shell; bp; esso; exxon; exxonmobil; chevron; texaco; aral; totalenergies; jet tankstellen; repsol; eni station; omv; circle k; ionity; enbw mobility; tesla supercharger; chargepoint; fastned; pep boys; jiffy lube; autozone; o reilly auto; napa auto; halfords; atu; euromaster; vergölst; michelin; bridgestone; continental tyres; goodyear; easypark; parkmobile; paybyphone; apcoa; q-park; adac; dekra; tüv; toll collect; volkswagen; mercedes-benz; bmw; audi; toyota; ford; renault; peugeot; tesla; dkv; uta edenred; kwik fit; carglass',
  },
  {
    id: 'groceries',
    family: 'food',
    label: 'food and groceries',
    mcc: '5411, 5422, 5441, 5451, 5462, 5499',
    words:
      'food; groceries; grocery; produce; vegetables; veg; fruit; fruits; meat; beef; pork; chicken; lamb; poultry; sausage; sausages; ham; bacon; steak; fish; seafood; salmon; tuna; halibut; cod; trout; shrimp; prawns; mussels; oysters; dairy; milk; butter; cheese; ~cream; creme fraiche; yogurt; yoghurt; ricotta; mozzarella; eggs; egg; bread; baguette; buns; flour; semolina; yeast dough; sugar; salt; ~pepper; spices; herbs; basil; olive oil; canola; cooking oil; vinegar; rice; pasta; noodles; lentils; ~beans; chickpeas; tomatoes; tomato; potatoes; potato; onions; onion; garlic; carrots; celery; lettuce; salad; mushrooms; avocado; ~apples; apple juice; bananas; lemons; ~oranges; ~berries; strawberries; chocolate; snacks; snack; cookies; biscuits; cereal; oats; ~honey; ~jam; coffee beans; coffee; tea bags; ~tea; juice; mineral water; soft drinks; lemonade; frozen food; dry goods; ingredients; lebensmittel; gemüse; obst; fleisch; fisch; käse; milch; brot; wurst; eier; mehl; getränke; légumes; viande; poisson; fromage; ~pain; lait; farine; épicerie; verduras; fruta; carne; pescado; queso; leche; pan; harina; boodschappen; groente; vlees; vis; kaas; melk; brood; ~kip; zalm; peanut butter; tofu; microgreens; truffles; stock cubes; ~broth; ketchup; mustard; mayonnaise; bulgur; couscous; pizza dough; ~pastry',
    companies:
      'sysco; us foods; gordon food service; performance food group; restaurant depot; metro cash; metro ag; ^metro; transgourmet; chefs culinar; ^brakes; bidfood; whole foods; trader joe s; kroger; safeway; albertsons; publix; wegmans; h-e-b; aldi; lidl; rewe; edeka; kaufland; penny markt; netto; carrefour; auchan; leclerc; intermarché; monoprix; franprix; mercadona; ^dia; esselunga; coop; migros; denner; ^spar; billa; hofer; albert heijn; ^jumbo; plus supermarkt; delhaize; colruyt; tesco; sainsbury s; asda; morrisons; waitrose; ocado; marks & spencer food; instacart; freshdirect; ^picnic; gorillas; ^flink; getir; hellofresh; blue apron; loblaws; sobeys; woolworths; coles; ^ica; rema 1000; ^kiwi; biedronka; food lion; nespresso; lavazza; danone; nestlé; tyson foods; barilla; starkist; oatly; bofrost; alnatura',
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
      'mcdonald s; burger king; kfc; subway; domino s; pizza hut; papa john s; starbucks; dunkin; chipotle; taco bell; five guys; shake shack; panera; wendy s; chick-fil-a; pret a manger; nando s; wagamama; vapiano; l osteria; nordsee; doordash; uber eats; ubereats; grubhub; deliveroo; just eat; lieferando; takeaway.com; ^wolt; foodora; ^glovo; zomato; swiggy; ezcater; opentable; sodexo; aramark; compass group; tim hortons; costa coffee',
  },
  {
    id: 'alcohol',
    family: 'alcohol',
    label: 'alcohol',
    mcc: '5813, 5921',
    words:
      'alcohol; alcoholic; wine; wines; beer; beers; champagne; prosecco; whisky; whiskey; vodka; ~gin; ~rum; tequila; cognac; brandy; liqueur; liquor; ~spirits; cider; ~lager; ~ale; ipa beer; sauvignon; cabernet; merlot; chardonnay; pinot; rosé; riesling; cocktail; cocktails; margarita; margaritas; mojito; aperol; ~sake; wein; bier; schnaps; sekt; vin rouge; bière; vino; cerveza; wijn; bourbon; malbec; rioja; keg; open bar; cava; mezcal; grauburgunder',
    companies:
      'total wine; bevmo; majestic wine; hawesko; vivino; jacques wein-depot; moët hennessy; diageo; drizly; heineken; anheuser-busch; southern glazer s; republic national distributing; gall & gall; ^nicolas; systembolaget; vinmonopolet; ^alko; wine.com; master of malt',
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
      'sigma-aldrich; sigma aldrich; merck; millipore; carl roth; vwr; avantor; fisher scientific; thermo fisher; thermofisher; invitrogen; eppendorf; new england biolabs; neb; qiagen; promega; roche diagnostics; bio-rad; biorad; sartorius; greiner; sarstedt; corning; starlab; integrated dna technologies; idt; twist bioscience; eurofins; genscript; abcam; takara bio; illumina; tci chemicals; alfa aesar; cytiva; lonza; zymo research; airgas; linde; air liquide; pangas; messer; addgene; thomas scientific; macherey-nagel',
  },
  {
    id: 'lab_instruments',
    family: 'laboratory',
    label: 'laboratory instruments',
    mcc: '5047',
    words:
      'instrument; instruments; centrifuge; microscope; microscopes; thermocycler; spectrometer; spectrophotometer; incubator; ~autoclave; fume hood; ultra-low freezer; plate reader; sequencer; balance analytical; shaker incubator; chromatograph; hplc system; flow cytometer; oscilloscope; water bath; laminar flow',
    companies:
      'zeiss microscopy; leica microsystems; agilent; perkinelmer; bruker; shimadzu; waters corporation; mettler toledo; beckman coulter; tecan; hamilton robotics; nikon instruments; keysight; tektronix',
  },
  {
    id: 'logistics',
    family: 'logistics',
    label: 'post, courier and freight',
    mcc: '4214, 4215, 9402',
    words:
      'shipping; shipment; shipments; parcel; parcels; courier; couriers; postage; stamps; freight; forwarding; haulage; pallet shipment; pallet; pallets; express delivery; overnight delivery; registered letter; registered mail; letters; customs clearance; customs duty; container freight; last mile; ~warehouse; warehousing; fulfilment; fulfillment; ~packaging; cardboard boxes; bubble wrap; packing tape; paket; pakete; päckchen; porto; versand; spedition; fracht; briefmarken; einschreiben; colis; envoi; affranchissement; transporte; envío; paquete; verzending; waybill; prepaid labels; shipping labels; drop-off; pick-up; mailroom; return label',
    companies:
      'dhl; fedex; ups; usps; royal mail; deutsche post; dpd; gls; hermes paket; hermes germany; evri; tnt; postnl; bpost; la poste; chronopost; colissimo; correos; seur; poste italiane; swiss post; österreichische post; postnord; ^bring; inpost; canada post; australia post; purolator; db schenker; kuehne+nagel; kuehne nagel; dsv; maersk; hapag-lloyd; dachser; xpo; ch robinson; flexport; stamps.com; pitney bowes; shippo; sendcloud; easypost; shipstation; go! express; time:matters; packlink; parcelforce; aramex; geodis; world courier; ontrac; sf express; die post; deutsche post filiale',
  },
  {
    id: 'utilities',
    family: 'energy_and_property',
    label: 'power, water and heating',
    mcc: '4900',
    words:
      'electricity; electricity bill; power bill; gas bill; water bill; ~heating; district heating; utilities; utility bill; kwh; ~meter; sewage; waste collection; recycling bin; strom; stromrechnung; abschlag; wasser; heizung; fernwärme; électricité; electricidad; energie; ~power; ~energy; heating oil; natural gas; propane; garbage collection; solar power',
    companies:
      'e.on; eon energie; vattenfall; enbw; rwe; ewe; stadtwerke; edf; engie; iberdrola; endesa; naturgy; enel; eni plenitude; british gas; octopus energy; scottish power; ovo energy; thames water; pg&e; con edison; duke energy; southern california edison; national grid; florida power; dominion energy; ewz; eneco; essent; veolia; suez; waste management; ørsted; fortum; hydro-québec',
  },
  {
    id: 'rent',
    family: 'energy_and_property',
    label: 'rent and premises',
    mcc: '6513',
    words:
      'rent; office rent; lease payment; coworking; landlord; ~premises; service charge; miete; büromiete; pacht; loyer; alquiler; huur; storage unit; mortgage; property management; facility management; security guard',
    companies: 'wework; regus; iwg; ^spaces; mindspace; industrious; public storage; shurgard; vonovia',
  },
  {
    id: 'building_materials',
    family: 'building',
    label: 'building materials and tools',
    mcc: '5039, 5072, 5200, 5211',
    words:
      'cement; concrete; bricks; plasterboard; drywall; lumber; timber; plywood; insulation; roofing; tiles; grout; ~paint; ~primer paint; ~nails; screws; ~bolts; drill; drill bits; saw blade; saw blades; hammer; ladder; scaffolding; ~pipes; ~fittings; plumbing; faucet; wiring; electrical cable; light switches; sockets; sand and gravel; tools; power tools; hand tools; hardware store; baustoffe; werkzeug; schrauben; ~holz; dämmung; fliesen; ~farbe; matériaux; outils; herramientas; gereedschap; sealant; ~silicone; adhesive anchors; rebar; mortar; gravel; varnish',
    companies:
      'home depot; lowe s; menards; ace hardware; bauhaus; hornbach; obi; toom; hagebau; leroy merlin; castorama; brico dépôt; b&q; screwfix; wickes; travis perkins; toolstation; würth; hilti; bosch professional; makita; dewalt; milwaukee tool; festool; stihl; grainger; fastenal; mcmaster-carr; bunnings; ^gamma; ^praxis; rs components; ferguson; saint-gobain; knauf; sherwin-williams; sonepar; rexel; bauking',
  },
  {
    id: 'trades_and_repair',
    family: 'building',
    label: 'craftsmen and repair',
    mcc: '1520-1799, 7622-7699',
    words:
      'plumber; electrician; carpenter; ~contractor; ~contractors; handyman; roofer; ~painter; renovation; remodel; ~repair; ~repairs; ~maintenance; hvac; air conditioning service; locksmith; pest control; gutter; landscaping; deck repair; ~installation; appliance repair; handwerker; klempner; elektriker; reparatur; wartung; dépannage; fontanero; loodgieter; callout; window cleaning; tile work; flooring; moving service; movers',
    companies:
      'angi; thumbtack; taskrabbit; myhammer; checkatrade; ^otis; schindler; kone; thyssenkrupp elevator; rentokil; terminix; servicemaster; mr rooter; roto-rooter; homeadvisor; handy',
  },
  {
    id: 'industrial_supplies',
    family: 'industry',
    label: 'industrial material and parts',
    mcc: '5085, 5051, 5065',
    words:
      'steel; sheet metal; aluminium; aluminum; copper; bearings; ball bearing; gearbox; ~motor; pump; pumps; valve; valves; hydraulics; hydraulic; pneumatic; lubricant; ~grease; welding; cnc; machine parts; spare part; spare parts; ~resin; adhesives; plastic granulate; fasteners; conveyor; ~sensor; ~sensors; plc; resistors; capacitors; microcontroller; circuit boards; pcb; pcb assembly; safety boots; safety helmet; hard hats; workwear; hi-vis; ppe; ersatzteile; stahl; blech; schmierstoff; arbeitskleidung; acier; acero; raw material; filament; ~machine; machinery; forklift; ~generator; relays; ~crane',
    companies:
      'siemens; abb; bosch rexroth; festo; skf; schaeffler; parker hannifin; igus; grundfos; ksb; thyssenkrupp; klöckner; digikey; digi-key; mouser; farnell; arrow electronics; avnet; jlcpcb; pcbway; xometry; protolabs; engelbert strauss; caterpillar; john deere; komatsu; honeywell; emerson; rockwell automation; schneider electric; phoenix contact; wago; pepperl+fuchs; omron; mitsubishi electric; trumpf; fanuc; henkel loctite; hoffmann group; misumi',
  },
  {
    id: 'farming_and_garden',
    family: 'farming_and_garden',
    label: 'farming and garden supplies',
    mcc: '0763, 5261',
    words:
      'seeds; seedlings; fertilizer; fertiliser; compost; pesticide; herbicide; irrigation; greenhouse; potting soil; topsoil; lawn mower; garden tools; animal feed; ~hay; livestock; tractor; plants; shrubs; flower bulbs; mulch; saatgut; dünger; gewächshaus; pflanzen; semences; engrais; semillas; fertilizante; drip line; beehive',
    companies:
      'baywa; syngenta; bayer crop science; corteva; raiffeisen; tractor supply; dehner; gardena; husqvarna; burpee; monty don; crop king; nutrien; cargill feed',
  },
  {
    id: 'freelancers',
    family: 'people_and_services',
    label: 'freelance work',
    mcc: '7392, 7399',
    words:
      'freelancer; freelancers; freelance; ~copyeditor; copyediting; copyedit; proofreading; proofreader; proofread; editor; editors; editing; illustrator; illustration; illustrations; translator; translation; translations; typesetting; typesetter; cover design; indexing; indexer; ghostwriter; voice-over; narration; narrator; transcript; manuscript; lektorat; korrektorat; übersetzung; übersetzer; honorar; traduction; traducción; ~correction; ~layout; photographer; videographer; developer day rate; contractor invoice; sensitivity reader; audiobook; beta reader; book cover; ~illustrated; developmental edit; interpreter',
    companies:
      'upwork; fiverr; toptal; freelancer.com; ^malt; reedsy; 99designs; gengo; translated; smartcat; proz; designcrowd; ^contra',
  },
  {
    id: 'professional_services',
    family: 'people_and_services',
    label: 'professional services',
    mcc: '8111, 8911, 8931, 7392',
    words:
      'legal fees; lawyer; attorney; notary; law firm; legal advice; ~audit; ~auditor; tax adviser; tax advisor; tax return; bookkeeping; accountant; consulting; consultant; consultancy; ~architect; surveyor; patent; trademark; steuerberater; rechtsanwalt; kanzlei; notar; beratung; avocat; comptable; abogado; gestoría; ~escrow; due diligence',
    companies:
      'deloitte; pwc; kpmg; ernst & young; ^ey; mckinsey; bcg; bain & company; accenture; capgemini; legalzoom; rocket lawyer; baker mckenzie; dentons; gartner',
  },
  {
    id: 'payroll',
    family: 'people_and_services',
    label: 'wages and personnel',
    mcc: '7361, 8999',
    words:
      'payroll; salary; salaries; wages; ~wage; ~bonus payment; staffing; temp agency; temporary workers; recruiting; recruitment; recruiter; job ad; job ads; headhunter; background check; severance; pension contribution; employee benefits; stipend; lohn; gehalt; gehälter; personalvermittlung; zeitarbeit; salaire; nómina; salaris; per diem',
    companies:
      'adp; ^gusto; ^deel; remote.com; rippling; paychex; personio; randstad; adecco; manpower; hays; robert half; indeed; stepstone; monster.com; glassdoor; kelly services; michael page; papaya global; bamboohr',
  },
  {
    id: 'courses',
    family: 'learning_and_events',
    label: 'courses and books',
    mcc: '5942, 8220-8299',
    words:
      '~course; courses; online course; training course; tuition; tuition fee; ~exam; certification; e-learning; textbook; textbooks; books; paperback; hardcover; ebook; journal subscription; journal article; seminar; lecture; language course; coaching; tutoring; fortbildung; schulung; kurs; ~buch; bücher; ~formation; livre; libros; curso; school fees; webinar; dictionary; professional training; novel; novels; ~library',
    companies:
      'coursera; udemy; pluralsight; linkedin learning; edx; skillshare; o reilly media; udacity; codecademy; datacamp; khan academy; masterclass; duolingo; babbel; pearson; springer; elsevier; wiley; thalia; hugendubel; waterstones; barnes & noble; audible; kindle; scribd; penguin random house; cambridge university press; oxford university press; goethe-institut; ieee; acm; packt; manning; blinkist',
  },
  {
    id: 'conferences',
    family: 'learning_and_events',
    label: 'conferences and event tickets',
    mcc: '7399, 7922',
    words:
      'conference; conferences; ~congress; ~summit; ~expo; trade fair; trade show; ~ticket; conference ticket; conference pass; workshop; workshops; early bird; attendee; attendees; registration fee; delegate; ~booth; exhibition stand; ~speaker; symposium; meetup; hackathon; konferenz; tagung; messe; messestand; teilnahmegebühr; conférence; congreso; beurs; ~keynote; full pass; day pass; ~registration; poster session; venue hire; ~venue',
    companies:
      'eventbrite; ^tito; ti.to; pretix; hopin; cvent; ^luma; web summit; aws re:invent; re:invent; kubecon; fosdem; pycon; devoxx; qcon; websummit; dreamforce; google i/o; wwdc; ces; mobile world congress; messe frankfurt; koelnmesse; messe münchen; deutsche messe; linux foundation; cloud native computing foundation; xing events; doo.net; goto conference; jsconf; oreilly conferences; ^strata; ^slush; republica; re:publica; sxsw; ndc conferences; weezevent; bizzabo; swapcard',
  },
  {
    id: 'taxes',
    family: 'public_dues',
    label: 'taxes and public fees',
    mcc: '9311, 9399',
    words:
      '~tax; taxes; vat payment; income tax; property tax; ~customs; permit; permit fee; licence fee; court fee; passport; fine notice; parking fine; social security contribution; steuer; steuern; umsatzsteuer; gewerbesteuer; gebühr; impôt; impôts; impuesto; impuestos; belasting; vorauszahlung; registry fee; trade register',
    companies:
      'finanzamt; hmrc; irs; internal revenue service; agencia tributaria; dgfip; urssaf; belastingdienst; ddmv; bundeskasse; companies house; handelsregister; landeshauptkasse; state of california',
  },
  {
    id: 'insurance_and_banking',
    family: 'finance',
    label: 'insurance and banking',
    mcc: '6010-6012, 6300',
    words:
      'insurance; insurance premium; liability insurance; bank fee; bank charges; ~loan; loan repayment; credit card bill; interest payment; versicherung; versicherungsbeitrag; kredit; assurance; seguro; verzekering; payment processing fees; warranty extension; extended warranty; protection plan',
    companies:
      'allianz; axa; zurich insurance; generali; munich re; ergo; huk-coburg; state farm; geico; progressive insurance; aig; chubb; aviva; hiscox; helvetia; die mobiliar; lemonade insurance; deutsche bank; commerzbank; sparkasse; ^ing; hsbc; barclays; ^chase; jpmorgan; wells fargo; bank of america; citibank; american express; capital one; bnp paribas; ubs; santander; bbva; klarna; monzo; n26; ^visa; mastercard',
  },
  {
    id: 'medical',
    family: 'health',
    label: 'medicine and health care',
    mcc: '5047, 5122, 5912, 8011-8099',
    words:
      'medicine; medicines; medication; prescription; pharmacy; drugstore; tablets ibuprofen; ibuprofen; paracetamol; aspirin; insulin; inhaler; antibiotics; vaccine; bandages; plasters; first aid; first-aid; wheelchair; syringes; doctor visit; dentist; dental; physiotherapy; hospital; ~medical; ~clinic; therapy; glasses optician; contact lenses; vitamins; supplements; arzt; apotheke; medikamente; verband; médicament; pharmacie; farmacia; medicamentos; apotheek; blood test; controlled substances; opioid; ketamine; thermometer; compression stockings; surgical masks; defibrillator',
    companies:
      'cvs; walgreens; rite aid; boots pharmacy; lloydspharmacy; docmorris; shop apotheke; redcare; medpex; pfizer; novartis; bayer vital; fielmann; specsavers; mckesson; cardinal health; henry schein; ^medline; ^hims; ottobock; fressnapf vet; doctolib; teladoc; iherb; gnc; holland & barrett; labcorp; quest diagnostics; zocdoc; goodrx; walmart pharmacy',
  },
];
